#include "cli/schedule/exit_status.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "hios/base/error.h"

namespace hios::cli {
namespace {

/// The exit status and the text on standard error.
std::pair<int, std::string> ended(const std::function<int()>& program) {
  testing::internal::CaptureStderr();
  const int status = exit_status_of(program);
  return {status, testing::internal::GetCapturedStderr()};
}

using Ended = std::pair<int, std::string>;

TEST(ExitStatus, IsTheProgramsOwn) {
  EXPECT_EQ(ended([] { return 130; }), Ended(130, ""));
}

TEST(ExitStatus, TellsBadInputFromFailure) {
  EXPECT_EQ(ended([]() -> int { throw InputError("no"); }), Ended(2, "error: no\n"));
  EXPECT_EQ(ended([]() -> int { throw RunError("disk full"); }), Ended(3, "error: disk full\n"));
  EXPECT_EQ(ended([]() -> int { throw std::logic_error("why"); }), Ended(3, "error: why\n"));
}

TEST(ExitStatus, AProgramWithoutMemoryNamesTheRemedy) {
  const auto [status, text] = ended([]() -> int { throw std::bad_alloc(); });
  EXPECT_EQ(status, 3);
  EXPECT_EQ(text.find("error: out of memory: take a smaller graph, fewer devices or fewer islands"),
            0u)
      << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "one line";
}

}  // namespace
}  // namespace hios::cli
