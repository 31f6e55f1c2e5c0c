#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hios {

/// The exit status of every program (128 + n for signal n comes from the shell).
enum class ExitCode { kDone = 0, kCheckFailed = 1, kBadInput = 2, kRunFailed = 3 };

/// The means that would help (hios/base/need.h).
struct Need;

/// Every failure is an Error; its text is one line that names the file or rank and, for input, the
/// remedy as far as it takes no flag or command. Only `main` catches.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  Error(ExitCode code, const std::string& text, const Need& need);
  ExitCode code() const { return code_; }
  /// Returns the need that the error was made with, else one that holds std::monostate.
  const Need& need() const;

 private:
  ExitCode code_;
  std::shared_ptr<const Need> need_;  ///< null: none
};

/// Bad usage or bad input, found before anything ran: exit status 2.
class InputError : public Error {
 public:
  explicit InputError(const std::string& text) : Error(ExitCode::kBadInput, text) {}
  InputError(const std::string& text, const Need& need) : Error(ExitCode::kBadInput, text, need) {}
};

/// A failure while running: exit status 3.
class RunError : public Error {
 public:
  explicit RunError(const std::string& text) : Error(ExitCode::kRunFailed, text) {}
  RunError(const std::string& text, const Need& need) : Error(ExitCode::kRunFailed, text, need) {}
};

/// Returns text of foreign origin made fit for one line of a message. Invisible characters and
/// bytes that are not UTF-8 are escaped as in C: "\n", "\u202e", "\U000e0001", "\xff". Invisible
/// are all control and format characters of Unicode and its separators of lines and paragraphs,
/// among them those of a terminal, of text direction and of no width. Letters of any script and
/// emoji stay as they are. The joiner within some emoji (U+200D) is a format character, so such an
/// emoji is shown as its parts. A text longer than `max_characters` is cut and marked "…".
std::string printable(std::string_view text, std::size_t max_characters = 60);

/// Returns a text of several lines made printable, in full; its line ends stay.
std::string printable_lines(std::string_view text);

/// Returns printable() text in double quotes; quotes and backslashes inside are escaped.
std::string quote(std::string_view text, std::size_t max_characters = 60);

}  // namespace hios
