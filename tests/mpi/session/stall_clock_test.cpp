#include "mpi/session/stall_clock.h"

#include <gtest/gtest.h>

namespace hios::mpi {
namespace {

TEST(StallClock, IsStalledOnceNothingMovedForTheTimeout) {
  StallClock clock(60, 0.2, 7, 100);
  double now = 100;
  for (int i = 0; i < 299; ++i) EXPECT_FALSE(clock.stalled(7, now += 0.2)) << now;
  EXPECT_TRUE(clock.stalled(7, 160));
}

TEST(StallClock, AnyMoveBeginsTheCountAgain) {
  StallClock clock(2, 0.5, 7, 0);
  EXPECT_FALSE(clock.stalled(7, 0.5));
  EXPECT_FALSE(clock.stalled(7, 1));
  EXPECT_FALSE(clock.stalled(7, 1.5));
  EXPECT_FALSE(clock.stalled(6, 2)) << "a count that falls has moved, too";
  EXPECT_FALSE(clock.stalled(6, 2.5));
  EXPECT_FALSE(clock.stalled(6, 3.75));
  EXPECT_TRUE(clock.stalled(6, 4));
}

TEST(StallClock, AStopOfTheProcessBeginsTheCountAgain) {
  StallClock clock(60, 0.2, 7, 0);
  double now = 0;
  while (now < 59) EXPECT_FALSE(clock.stalled(7, now += 0.2));
  EXPECT_FALSE(clock.stalled(7, now += 3600)) << "stopped for longer than the time-out";
  const double continued = now;
  while (now < continued + 59) EXPECT_FALSE(clock.stalled(7, now += 0.2)) << now - continued;
  EXPECT_TRUE(clock.stalled(7, continued + 60)) << "a rank that hangs afterwards is found";
}

TEST(StallClock, AShortStopBeginsItAgainToo) {
  StallClock clock(60, 0.2, 7, 0);
  double now = 0;
  while (now < 59) EXPECT_FALSE(clock.stalled(7, now += 0.2));
  EXPECT_FALSE(clock.stalled(7, now += 2));
  EXPECT_FALSE(clock.stalled(7, now += 0.2));
}

// Gang scheduling pauses a job every few seconds.
TEST(StallClock, AHangIsFoundInAJobThatIsPausedNowAndThen) {
  StallClock clock(60, 0.2, 7, 0);
  double now = 0, counted = 0;
  const auto second = [&] {
    bool stalled = false;
    for (int i = 0; i < 5; ++i) stalled = clock.stalled(7, now += 0.2);
    ++counted;
    return stalled;
  };
  while (counted < 30) EXPECT_FALSE(second());
  counted = 0;  // the first pause begins the count again
  bool stalled = clock.stalled(7, now += 30);
  while (!stalled && counted < 1000) {
    stalled = second();
    if (static_cast<int>(counted) % 20 == 0) stalled = clock.stalled(7, now += 30) || stalled;
  }
  EXPECT_NEAR(counted, 60, 1);
  EXPECT_FALSE(clock.stalled(8, now += 0.2)) << "progress";
  EXPECT_FALSE(clock.stalled(8, now += 59));
  EXPECT_FALSE(clock.stalled(8, now += 59)) << "the first pause since then";
}

// A machine that is busy with other work wakes the reader late.
TEST(StallClock, ReadingsALittleLateCount) {
  StallClock clock(60, 0.2, 7, 0);
  double now = 0;
  while (now < 58.9) EXPECT_FALSE(clock.stalled(7, now += 1.1));
  EXPECT_TRUE(clock.stalled(7, now += 1.1));
}

TEST(StallClock, AShortTimeoutHasAShorterLimitForGaps) {
  StallClock clock(0.5, 0.125, 7, 0);
  EXPECT_FALSE(clock.stalled(7, 0.375)) << "0.25 s late: not a stop";
  EXPECT_TRUE(clock.stalled(7, 0.5));
  EXPECT_FALSE(clock.stalled(7, 1)) << "0.375 s late: a stop";
}

}  // namespace
}  // namespace hios::mpi
