#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "hios/base/error.h"

namespace hios::test {

/// Checks that `call` throws `Kind`, whose text is one line of bearable length without control
/// characters and holds every one of `parts`.
template <class Kind = InputError, class Call>
void expect_error(const Call& call, std::initializer_list<std::string_view> parts) {
  try {
    call();
  } catch (const Kind& error) {
    const std::string text = error.what();
    for (const std::string_view part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
    }
    for (const char c : text) {
      EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f) << text;
    }
    EXPECT_LT(text.size(), 1200U) << text;
    return;
  }
  ADD_FAILURE() << "no error was thrown";
}

/// Checks that `call` throws an InputError with a Need of this kind and, among its details, these.
template <class Call>
void expect_need(const Call& call, std::string_view kind,
                 std::initializer_list<std::pair<std::string, std::string>> details) {
  try {
    call();
  } catch (const InputError& error) {
    EXPECT_EQ(error.need().kind, kind) << error.what();
    for (const auto& [name, value] : details) {
      const auto found = error.need().details.find(name);
      EXPECT_TRUE(found != error.need().details.end() && found->second == value)
          << name << " is not " << value << " in the need of: " << error.what();
    }
    return;
  }
  ADD_FAILURE() << "no error was thrown";
}

}  // namespace hios::test
