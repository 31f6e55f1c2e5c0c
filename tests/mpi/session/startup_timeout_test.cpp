#include "mpi/session/startup_timeout.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "support/programs/stop.h"

namespace hios::test {
namespace {

TEST(StartupTimeoutDeathTest, EndsTheProcessWithALineWhenNothingComes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const mpi::StartupTimeout timeout({1, "--timeout"}, "all ranks start together (MPI_Init)");
        while (true) pause();
      },
      testing::ExitedWithCode(3),
      "error: rank .* on .*: no answer for 1 s .--timeout. while all ranks start together");
}

TEST(StartupTimeoutDeathTest, BeginsAgainWhenTheProcessWasStopped) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        continue_after_a_stop_of(std::chrono::milliseconds(800));
        {
          const mpi::StartupTimeout timeout({.seconds = 0.4}, "nothing happens");
          raise(SIGSTOP);
        }
        _exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

void sleep_through_signals(timespec left) {
  while (nanosleep(&left, &left) != 0) {
  }
}

TEST(StartupTimeoutDeathTest, GivesEachStepAllOfTheSeconds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        mpi::StartupTimeout timeout({.seconds = 0.8}, "the first step lasts");
        for (int step = 0; step < 6; ++step) {
          timeout.next("step " + std::to_string(step) + " lasts");
          sleep_through_signals({0, 200'000'000});
        }
        while (true) pause();
      },
      testing::ExitedWithCode(3), "no answer for 0.8 s while step 5 lasts");
}

extern "C" void end_with_7(int) { _exit(7); }

TEST(StartupTimeoutDeathTest, LeavesTheEarlierHandler) {
  EXPECT_EXIT(
      {
        signal(SIGALRM, end_with_7);
        { const mpi::StartupTimeout timeout({.seconds = 1000}, "nothing happens"); }
        raise(SIGALRM);
      },
      testing::ExitedWithCode(7), "^$");
}

TEST(StartupTimeout, IsOverWithItsScope) {
  { const mpi::StartupTimeout timeout({.seconds = 1000}, "nothing happens"); }
  EXPECT_EQ(alarm(0), 0u) << "an alarm was left";
}

}  // namespace
}  // namespace hios::test
