#pragma once

#include <string_view>

namespace hios::log {

/// What goes to standard error; results go to standard output and files.
enum class Level { kQuiet, kNormal, kVerbose };

/// Process-wide, set once by `main` before any thread starts. Ranks other than 0 run quiet.
void set_level(Level level);
Level level();

void info(std::string_view line);     ///< from kNormal
void verbose(std::string_view line);  ///< from kVerbose
void warning(std::string_view line);  ///< from kNormal, prefixed "warning: "; names its remedy
void error(std::string_view line);    ///< always, prefixed "error: "

/// A line that overwrites itself: "measuring operators  42/119  3 s left". Shows nothing unless
/// standard error is a terminal and the level is at least kNormal. Not thread-safe.
class Progress {
 public:
  explicit Progress(std::string_view what);
  ~Progress();  ///< wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `seconds_left` < 0: unknown.
  void update(std::size_t done, std::size_t total, double seconds_left);

 private:
  std::string_view what_;
  bool shown_ = false;
};

}  // namespace hios::log
