#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace hios::test {

/// An environment variable of this process with another value; nothing: without it. The destructor
/// restores the value before.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* const now = std::getenv(name)) before_ = now;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    value ? ::setenv(name_, value->c_str(), 1) : ::unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace hios::test
