#include "engine/job/inferences.h"

#include <gtest/gtest.h>

#include "hios/base/error.h"

namespace hios::job {
namespace {

TEST(MeanPeriod, IsTheTimeBetweenEnds) {
  const std::vector<double> ends = {5, 9, 12, 15, 18};
  const MeanPeriod period = mean_period(ends, 1, 1);
  EXPECT_DOUBLE_EQ(period.ms, 3);
  EXPECT_EQ(period.counted, 3u);
}

// Two of them end every 40 ms, whichever ends are first and last.
TEST(MeanPeriod, CountsCopiesThatEndTogetherAsOne) {
  for (const std::size_t count : {9, 10, 11, 12}) {
    std::vector<double> ends;
    for (std::size_t i = 0; i < count; ++i) ends.push_back(40.0 * static_cast<double>(1 + i / 2));
    for (const std::size_t first : {2, 3, 4, 5}) {
      EXPECT_DOUBLE_EQ(mean_period(ends, first, 2).ms, 20) << count << " ends from " << first;
    }
  }
}

TEST(MeanPeriod, CountsInferencesInTheirOrder) {
  const std::vector<double> ends = {1, 8, 3, 12};  // the third ended before the second
  EXPECT_DOUBLE_EQ(mean_period(ends, 0, 1).ms, 11.0 / 3);
  EXPECT_DOUBLE_EQ(mean_period(ends, 2, 1).ms, 4);
}

TEST(InferencesOptions, AreSettledByTheSchedule) {
  ScheduleFile schedule;
  schedule.has_prediction = false;
  EXPECT_EQ(settled({}, schedule).in_flight, 2u);
  EXPECT_EQ(settled({}, schedule).inputs, 3u);
  schedule.has_prediction = true;
  schedule.predicted.throughput.emplace().in_flight = 4;
  EXPECT_EQ(settled({.copies = 3}, schedule).in_flight, 4u);
  EXPECT_EQ(settled({.copies = 3}, schedule).inputs, 13u) << "coprime to the number of buffers";
  EXPECT_EQ(settled({.in_flight = 1, .inputs = 7}, schedule).inputs, 7u);
  schedule.predicted.throughput->in_flight = kMostInFlight + 1;
  EXPECT_THROW(settled({}, schedule), InputError);
  EXPECT_EQ(settled({.in_flight = 2}, schedule).in_flight, 2u);
}

}  // namespace
}  // namespace hios::job
