#pragma once

#include <stdexcept>
#include <string>

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

}  // namespace hios
