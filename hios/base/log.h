#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hios::log {

/// The messages that go to standard error; results go to standard output and files.
enum class Level { kQuiet, kNormal, kVerbose };

/// Process-wide, set once by `main` before any thread starts. Ranks other than 0 run quiet.
void set_level(Level level);
Level level();

void info(std::string_view line);     ///< from kNormal
void verbose(std::string_view line);  ///< from kVerbose
void warning(std::string_view line);  ///< from kNormal, prefixed "warning: "; names its remedy
void lasting_warning(std::string_view line);  ///< the same, always: a result may not hold
void error(std::string_view line);            ///< always, prefixed "error: "

/// Returns "measuring operators  42/119  3 s left", cut to fit a terminal. `seconds_left` < 0:
/// unknown.
std::string progress_line(std::string_view what, std::size_t done, std::size_t total,
                          double seconds_left);
/// Returns "best: 174.2 ms, gap 8.8 %", cut to fit a terminal.
std::string progress_line(std::string_view text);

/// A progress_line that overwrites itself; the functions above wipe it before they print. Shows
/// nothing unless standard error is a terminal and the level is at least kNormal. Not thread-safe;
/// one at a time.
class Progress {
 public:
  explicit Progress(std::string_view what);
  ~Progress();  ///< wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `seconds_left` < 0: unknown.
  void update(std::size_t done, std::size_t total, double seconds_left);
  /// Shows a text, for work that has more to say than a count: "best: 174.2 ms, gap 8.8 %".
  void show(std::string_view text);

 private:
  void overwrite(std::string line);

  std::string what_;
  std::string line_;  ///< the line shown last
};

}  // namespace hios::log
