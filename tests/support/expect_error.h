#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios::test {

/// Checks that `call` throws `Kind`. Its text is one line of fewer than 1200 characters, without
/// control characters, and holds every one of `parts`.
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

/// Checks that `call` throws an InputError with this need, all its fields included.
template <class Call>
void expect_need(const Call& call, const Need& need) {
  try {
    call();
  } catch (const InputError& error) {
    EXPECT_EQ(error.need().index(), need.index()) << "another need: " << error.what();
    EXPECT_TRUE(error.need() == need) << "other fields of the need: " << error.what();
    return;
  }
  ADD_FAILURE() << "no error was thrown";
}

}  // namespace hios::test
