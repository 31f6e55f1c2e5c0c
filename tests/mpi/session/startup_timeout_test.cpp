#include "mpi/session/startup_timeout.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace hios::test {
namespace {

TEST(StartupTimeoutDeathTest, EndsTheProcessWithALineWhenNothingComes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const mpi::StartupTimeout timeout(1, "all ranks start together (MPI_Init)");
        while (true) pause();
      },
      testing::ExitedWithCode(3),
      "error: rank .* on .*: no answer for 1 s while all ranks start together");
}

TEST(StartupTimeout, IsOverWithItsScope) {
  { const mpi::StartupTimeout timeout(1000, "nothing happens"); }
  EXPECT_EQ(alarm(0), 0u) << "an alarm was left";
}

}  // namespace
}  // namespace hios::test
