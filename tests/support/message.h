#pragma once

#include <string>

#include <gtest/gtest.h>

#include "hios/base/error.h"

namespace hios::test {

/// The text of the InputError that `act` throws; a failure of the test if it throws none.
template <class Act>
std::string message_of(Act&& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return {};
}

/// The text is one line and says `part`.
inline void expect_message(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' does not say '" << part << "'";
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

}  // namespace hios::test
