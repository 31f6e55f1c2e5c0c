#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/programs/process.h"

namespace hios::test {

/// The program refused its input: status 2, one line of error that says `part`, and nothing that a
/// terminal would obey.
inline void expect_refused(const ProcessResult& result, const std::string& part) {
  EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
  const auto errors = lines_with(result.err, "error: ");
  ASSERT_EQ(errors.size(), 1u) << result.err;
  EXPECT_NE(errors.front().find(part), std::string::npos) << errors.front();
  const auto obeyed = [](unsigned char c) { return c < 0x20 && c != '\n'; };
  EXPECT_TRUE(std::ranges::none_of(result.out + result.err, obeyed)) << result.out << result.err;
}

}  // namespace hios::test
