#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace hios {

/// The exit status of every program (128 + n for signal n comes from the shell).
enum class ExitCode { kDone = 0, kCheckFailed = 1, kBadInput = 2, kRunFailed = 3 };

/// What would help, as a fact: the kind of help, and what it is about. Libraries know no flags and
/// no commands; a program puts a Need into words with its own (cli/remedies.h lists the kinds).
struct Need {
  std::string kind = {};  ///< "measurement"; empty: no more than the text says
  std::map<std::string, std::string> details = {};
  bool operator==(const Need&) const = default;
};

/// Every failure is an Error; its text is one line that names the place and, for input, the remedy
/// as far as it takes no flag or command. Only `main` catches.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& text, Need need = {})
      : std::runtime_error(text), code_(code), need_(std::move(need)) {}
  ExitCode code() const { return code_; }
  const Need& need() const { return need_; }

 private:
  ExitCode code_;
  Need need_;
};

/// Bad usage or bad input, found before anything ran: exit status 2.
class InputError : public Error {
 public:
  explicit InputError(const std::string& text, Need need = {})
      : Error(ExitCode::kBadInput, text, std::move(need)) {}
};

/// A failure while running: exit status 3.
class RunError : public Error {
 public:
  explicit RunError(const std::string& text, Need need = {})
      : Error(ExitCode::kRunFailed, text, std::move(need)) {}
};

/// Text of foreign origin made fit for one line of a message: control characters (those of a
/// terminal and of text direction included) and bytes that are not UTF-8 are escaped, and what is
/// longer than `max_characters` is cut and marked "…".
std::string printable(std::string_view text, std::size_t max_characters = 60);

/// The same in double quotes; quotes and backslashes inside are escaped.
std::string quote(std::string_view text, std::size_t max_characters = 60);

}  // namespace hios
