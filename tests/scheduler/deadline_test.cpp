#include "scheduler/deadline.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace hios::scheduler {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

/// A clock and a stop request that the test sets.
class DeadlineTest : public testing::Test {
 protected:
  Deadline in(double seconds) {
    return Deadline([this] { return stop_; }, [this] { return now_s_; }, seconds);
  }

  double now_s_ = 100;
  bool stop_ = false;
};

TEST_F(DeadlineTest, TheDefaultOneNeverExpires) {
  const Deadline never;
  EXPECT_FALSE(never.can_expire());
  EXPECT_FALSE(never.has_time_limit());
  for (const Deadline& deadline :
       {never, never.half(), never.within(0), never.share(0.5), never.from_now(0)}) {
    EXPECT_FALSE(deadline.expired());
    EXPECT_EQ(deadline.seconds_left(), kForever);
  }
}

TEST_F(DeadlineTest, AStopRequestEndsItAndAllThatIsDerived) {
  const Deadline deadline([this] { return stop_; });
  EXPECT_TRUE(deadline.can_expire());
  EXPECT_FALSE(deadline.has_time_limit());
  const std::vector<Deadline> all = {deadline, deadline.half(), deadline.within(0),
                                     deadline.share(0.5), deadline.from_now(0)};
  for (const Deadline& each : all) {
    EXPECT_FALSE(each.expired()) << "there is no clock";
    EXPECT_EQ(each.seconds_left(), kForever);
  }
  stop_ = true;
  for (const Deadline& each : all) {
    EXPECT_TRUE(each.expired());
    EXPECT_EQ(each.seconds_left(), 0);
  }
}

TEST_F(DeadlineTest, ExpiresWhenItsSecondsHavePassed) {
  const Deadline deadline = in(8);
  EXPECT_TRUE(deadline.has_time_limit());
  EXPECT_EQ(deadline.seconds_left(), 8);
  now_s_ += 7;
  EXPECT_FALSE(deadline.expired());
  EXPECT_EQ(deadline.seconds_left(), 1);
  now_s_ += 1;
  EXPECT_TRUE(deadline.expired());
  now_s_ += 1;
  EXPECT_TRUE(deadline.expired());
  EXPECT_EQ(deadline.seconds_left(), 0) << "never negative";
}

TEST_F(DeadlineTest, WithoutSecondsItHasExpiredAtOnce) {
  EXPECT_TRUE(in(0).expired());
  EXPECT_TRUE(in(-1).expired());
  EXPECT_EQ(in(-1).seconds_left(), 0);
}

TEST_F(DeadlineTest, AStopRequestLeavesNoSeconds) {
  const Deadline deadline = in(8), half = deadline.half();
  stop_ = true;
  EXPECT_TRUE(deadline.expired());
  EXPECT_TRUE(half.expired());
  EXPECT_EQ(deadline.seconds_left(), 0);
  EXPECT_TRUE(deadline.from_now(8).expired());
}

TEST_F(DeadlineTest, TheStopRequestMayBeEmpty) {
  const Deadline deadline(
      {}, [this] { return now_s_; }, 2);
  EXPECT_FALSE(deadline.expired());
  EXPECT_EQ(deadline.seconds_left(), 2);
  now_s_ += 2;
  EXPECT_TRUE(deadline.expired());
}

TEST_F(DeadlineTest, HalfIsHalfwayFromItsBegin) {
  const Deadline deadline = in(8);
  now_s_ += 3;
  const Deadline half = deadline.half();
  EXPECT_EQ(half.seconds_left(), 1);
  now_s_ += 1;
  EXPECT_TRUE(half.expired());
  EXPECT_FALSE(deadline.expired());
}

TEST_F(DeadlineTest, ADerivedDeadlineEndsWithItsOrigin) {
  const Deadline deadline = in(8);
  now_s_ += 2;
  EXPECT_EQ(deadline.within(3).seconds_left(), 3);
  EXPECT_EQ(deadline.within(30).seconds_left(), 6);
  EXPECT_EQ(deadline.within(kForever).seconds_left(), 6);
  EXPECT_EQ(deadline.share(0.5).seconds_left(), 3);
  EXPECT_EQ(deadline.within(4).half().seconds_left(), 2) << "a part begins when it is made";
  EXPECT_TRUE(deadline.within(-1).expired());
}

TEST_F(DeadlineTest, DistinguishesAStopRequestFromTime) {
  const Deadline deadline = in(0);
  EXPECT_TRUE(deadline.expired());
  EXPECT_FALSE(deadline.stop_requested());
  stop_ = true;
  EXPECT_TRUE(deadline.stop_requested());
  EXPECT_FALSE(Deadline().stop_requested());
}

TEST_F(DeadlineTest, HasTheTimeOfItsClock) {
  EXPECT_EQ(in(1).now_s(), 100);
  EXPECT_EQ(Deadline([] { return true; }).now_s(), 0);
  EXPECT_EQ(Deadline().now_s(), 0);
}

TEST_F(DeadlineTest, FromNowMayEndLater) {
  const Deadline deadline = in(8);
  now_s_ += 9;
  const Deadline next = deadline.from_now(5);
  EXPECT_TRUE(deadline.expired());
  EXPECT_EQ(next.seconds_left(), 5);
  now_s_ += 5;
  EXPECT_TRUE(next.expired());
}

TEST_F(DeadlineTest, ALoopReadsTheClockOnceInSoManySteps) {
  int asked = 0;
  const Deadline deadline([&asked] { return ++asked > 2; });
  int expired_at = -1;
  for (int step = 0; step < 100 && expired_at < 0; ++step) {
    if (deadline.expired_at(step, 10)) expired_at = step;
  }
  EXPECT_EQ(expired_at, 20);
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(Deadline().expired_at(0, 10));
}

}  // namespace
}  // namespace hios::scheduler
