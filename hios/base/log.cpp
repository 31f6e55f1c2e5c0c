#include "hios/base/log.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <utility>

#include "hios/base/error.h"

namespace hios::log {
namespace {

Level current_level = Level::kNormal;

/// True while a progress line is on the terminal; the next line of any thread wipes it first.
std::atomic<bool> progress_shown = false;

/// Moves to the first column and clears to the end of the line.
constexpr std::string_view kWipe = "\r\033[K";

/// Writes each line by one call, so that lines of several ranks do not mix.
void emit(std::string_view prefix, std::string_view line) {
  std::string text;
  if (progress_shown.exchange(false)) text += kWipe;
  text += prefix;
  text += line;
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

/// Returns a message fit for a terminal: what it quotes from files may neither move the cursor nor
/// fill the screen.
std::string message(std::string_view line) {
  constexpr std::size_t kMaxCharacters = 4000;
  return printable(line, kMaxCharacters);
}

bool at_least(Level level) { return static_cast<int>(current_level) >= static_cast<int>(level); }

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  }
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

}  // namespace

void set_level(Level level) { current_level = level; }
Level level() { return current_level; }

void info(std::string_view line) {
  if (at_least(Level::kNormal)) emit("", printable_lines(line));
}

void verbose(std::string_view line) {
  if (at_least(Level::kVerbose)) emit("", printable_lines(line));
}

void warning(std::string_view line) {
  if (at_least(Level::kNormal)) emit("warning: ", message(line));
}

void lasting_warning(std::string_view line) { emit("warning: ", message(line)); }

void error(std::string_view line) { emit("error: ", message(line)); }

std::string progress_line(std::string_view what, std::size_t done, std::size_t total,
                          double seconds_left) {
  constexpr double kLongest = 1000 * 3600.0;
  std::string line(what);
  line += "  " + std::to_string(done) + "/" + std::to_string(total);
  if (seconds_left >= 0 && seconds_left <= kLongest) {
    line += "  " + duration_text(seconds_left) + " left";
  }
  return progress_line(line);
}

std::string progress_line(std::string_view text) {
  // A line that wraps cannot be wiped: stay within the narrowest usual terminal.
  constexpr std::size_t kMaxCharacters = 79;
  return std::string(text.substr(0, kMaxCharacters));
}

Progress::Progress(std::string_view what) : what_(what) {}

Progress::~Progress() {
  if (progress_shown.exchange(false)) std::fwrite(kWipe.data(), 1, kWipe.size(), stderr);
}

void Progress::update(std::size_t done, std::size_t total, double seconds_left) {
  overwrite(progress_line(what_, done, total, seconds_left));
}

void Progress::show(std::string_view text) { overwrite(progress_line(text)); }

void Progress::overwrite(std::string line) {
  if (!at_least(Level::kNormal) || isatty(STDERR_FILENO) == 0) return;
  if (progress_shown && line == line_) return;
  const std::string text = std::string(kWipe) + line;
  std::fwrite(text.data(), 1, text.size(), stderr);
  line_ = std::move(line);
  progress_shown = true;
}

}  // namespace hios::log
