#include "engine/measure/launch.h"

#include <vector>

#include <gtest/gtest.h>

namespace hios {
namespace {

Measurement took(double ms) { return {ms, ms, 8}; }

/// The merged times of operators with readings, of all of them by the device's clock, and of a
/// plain run.
std::vector<Measurement> swept(const std::vector<double>& marked_ms, double whole_ms,
                               double plain_ms) {
  std::vector<Measurement> merged;
  for (const double ms : marked_ms) merged.push_back(took(ms));
  merged.push_back(took(whole_ms));
  merged.push_back(took(plain_ms));
  return merged;
}

TEST(Launch, IsTheTimeOfAnUnmarkedRunWithoutItsOperators) {
  // Three operators of 5, 7 and 3 us; a reading takes 2 us; a run takes 11 us more than the
  // operators.
  const auto merged = swept({0.007, 0.009, 0.005}, 0.017, 0.026);
  const auto launch = launch_of(merged);
  ASSERT_TRUE(launch);
  EXPECT_NEAR(launch->marks_ms, 0.002, 1e-12);
  EXPECT_NEAR(launch->ms, 0.011, 1e-12);
  EXPECT_EQ(launch->samples, 8);
  double predicted = launch->ms;
  for (std::size_t i = 0; i < 3; ++i) predicted += without_marks(merged[i], launch).ms;
  EXPECT_NEAR(predicted, 0.026, 1e-12) << "as long as the plain run";
}

// Readings cannot have added more to an operator than its whole time: their time between operators
// counts for the launch then.
TEST(Launch, LeavesNoOperatorLessThanNothing) {
  const auto merged = swept({0.001, 0.009, 0.008}, 0.006, 0.02);
  const auto launch = launch_of(merged);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->marks_ms, 0.001);
  EXPECT_EQ(without_marks(merged[0], launch).ms, 0);
  EXPECT_NEAR(launch->ms, 0.02 - 0.015, 1e-12);
}

// The device's time between operators counts for the operators.
TEST(Launch, AddsGapsBetweenOperatorsToThem) {
  const auto launch = launch_of(swept({1, 1, 1}, 3.5, 3.9));
  ASSERT_TRUE(launch);
  EXPECT_NEAR(launch->marks_ms, -0.25, 1e-12);
  EXPECT_NEAR(launch->ms, 0.15, 1e-12);
}

TEST(Launch, IncludesReadingsForOneOperator) {
  const auto launch = launch_of(swept({1}, 1, 1.5));
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->marks_ms, 0);
  EXPECT_EQ(launch->ms, 0.5);
}

TEST(Launch, IsNeverNegative) { EXPECT_EQ(launch_of(swept({4, 4}, 8, 0.01))->ms, 0); }

TEST(Launch, IsNothingWhereTheRankComputesItself) {
  std::vector<Measurement> merged{took(1)};
  merged.resize(1 + kDeviceTimes);
  EXPECT_FALSE(launch_of(merged));
  EXPECT_EQ(without_marks(merged[0], {}), merged[0]);
}

}  // namespace
}  // namespace hios
