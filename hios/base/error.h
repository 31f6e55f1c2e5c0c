#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hios {

/// The exit status of every program (128 + n for signal n comes from the shell).
enum class ExitCode { kDone = 0, kCheckFailed = 1, kBadInput = 2, kRunFailed = 3 };

/// Every failure is an Error; its text is one line that names the place and, for input, the remedy.
/// Only `main` catches.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Bad usage or bad input, found before anything ran: exit status 2.
class InputError : public Error {
 public:
  explicit InputError(const std::string& text) : Error(ExitCode::kBadInput, text) {}
};

/// A failure while running: exit status 3.
class RunError : public Error {
 public:
  explicit RunError(const std::string& text) : Error(ExitCode::kRunFailed, text) {}
};

/// Text of foreign origin made fit for one line of a message: control characters (those of a
/// terminal and of text direction included) and bytes that are not UTF-8 are escaped, and what is
/// longer than `max_characters` is cut and marked "…".
std::string printable(std::string_view text, std::size_t max_characters = 60);

/// The same in double quotes; quotes and backslashes inside are escaped.
std::string quote(std::string_view text, std::size_t max_characters = 60);

}  // namespace hios
