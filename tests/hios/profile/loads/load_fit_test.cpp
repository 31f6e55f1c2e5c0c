#include "hios/profile/loads/load_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/platform/platform.h"

namespace hios {
namespace {

constexpr Bytes kKilobyte = 1000, kMegabyteOfLoads = 1'000'000;

/// Returns a lane of loads with this latency and rate, in order.
LaneAlone lane_of(std::vector<Bytes> sizes, double latency_ms, double gb_per_s) {
  LaneAlone lane{.sizes = std::move(sizes), .ms = {}};
  for (const Bytes size : lane.sizes) {
    lane.ms.push_back(latency_ms + static_cast<double>(size) / (gb_per_s * 1e6));
  }
  return lane;
}

/// Returns the time of all loads by a fit, from the lane's start.
double whole_ms(const MeasuredLoads& fit, const LaneAlone& lane) {
  double ms = fit.start_ms;
  for (const Bytes size : lane.sizes) {
    ms += fit.latency_ms + static_cast<double>(size) / (fit.gb_per_s * 1e6);
  }
  return ms;
}

TEST(LoadFit, FindsLatencyAndRate) {
  const LaneAlone lane =
      lane_of({kKilobyte, kMegabyteOfLoads, 3 * kMegabyteOfLoads, 50 * kKilobyte}, 0.02, 4);
  const MeasuredLoads fit = fit_loads(lane);
  EXPECT_NEAR(fit.latency_ms, 0.02, 1e-9);
  EXPECT_NEAR(fit.gb_per_s, 4, 1e-6);
  EXPECT_NEAR(fit.start_ms, 0, 1e-9);
  EXPECT_EQ(fit.together_gb_per_s, fit.gb_per_s);
  ASSERT_EQ(fit.points.size(), 4u);
  EXPECT_EQ(fit.points.front().first, kKilobyte);
  EXPECT_TRUE(std::ranges::is_sorted(fit.points));
}

// The first chunk of a disk makes the first load longer; it is waited for once.
TEST(LoadFit, ALongFirstLoadIsTheStart) {
  LaneAlone lane = lane_of({kMegabyteOfLoads, 2 * kMegabyteOfLoads, kMegabyteOfLoads}, 0, 2);
  lane.ms.front() += 0.7;
  lane.lead_ms = 0.1;
  const MeasuredLoads fit = fit_loads(lane);
  EXPECT_NEAR(fit.start_ms, 0.8, 1e-9);
  EXPECT_NEAR(fit.latency_ms, 0, 1e-9);
  EXPECT_NEAR(fit.gb_per_s, 2, 1e-9);
}

// Nothing tells the start of a single load, or of one with most of the bytes, from its rate.
TEST(LoadFit, OneLargeTensorHasARateAndNoStart) {
  LaneAlone alone = lane_of({8 * kMegabyteOfLoads}, 0, 2);
  alone.lead_ms = 0.05;
  const MeasuredLoads one = fit_loads(alone);
  EXPECT_NEAR(one.gb_per_s, 2, 1e-9);
  EXPECT_EQ(one.latency_ms, 0);
  EXPECT_EQ(one.start_ms, 0.05);

  LaneAlone most = lane_of({8 * kMegabyteOfLoads, kKilobyte}, 0, 2);
  most.ms.back() = 0.1;  // a small load is noise
  const MeasuredLoads fit = fit_loads(most);
  EXPECT_NEAR(fit.gb_per_s, 2, 0.1);
  EXPECT_EQ(fit.start_ms, 0);
}

TEST(LoadFit, GivesTheWholeTimeWhateverTheSizes) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, "loads");
    LaneAlone lane{.sizes = {}, .ms = {}, .lead_ms = 0.01 * static_cast<double>(random.below(5))};
    for (std::uint64_t i = 0; i <= random.below(12); ++i) {
      lane.sizes.push_back(1 + random.below(random.below(2) ? 1000 : 5 * kMegabyteOfLoads));
      lane.ms.push_back(1e-4 + 0.001 * static_cast<double>(random.below(3000)));
    }
    const MeasuredLoads fit = fit_loads(lane);
    EXPECT_GE(fit.start_ms, 0);
    EXPECT_GE(fit.latency_ms, 0);
    const double measured_ms = std::accumulate(lane.ms.begin(), lane.ms.end(), lane.lead_ms);
    EXPECT_NEAR(whole_ms(fit, lane), measured_ms, 1e-6 * measured_ms);
  }
}

TEST(LoadFit, AllRanksTogetherAreNotFasterThanOne) {
  const LaneAlone lane = lane_of({kMegabyteOfLoads, 3 * kMegabyteOfLoads}, 0, 4);
  const MeasuredLoads fit = fit_loads(lane);
  EXPECT_NEAR(together_gb_per_s(fit, lane, 2), 2, 1e-9);
  EXPECT_EQ(together_gb_per_s(fit, lane, 0.5), fit.gb_per_s);
}

TEST(RelativeLine, FitsSmallAndLargeSizesAlike) {
  const std::vector<std::pair<Bytes, double>> points = {
      {1000, 0.011}, {1'000'000, 1.01}, {16'000'000, 16.01}};
  const RateLine line = relative_line(points);
  EXPECT_NEAR(line.latency_ms, 0.01, 1e-6);
  EXPECT_NEAR(line.gb_per_s, 1, 1e-6);
}

TEST(RelativeLine, IsNeitherFallingNorBelowZero) {
  const std::vector<std::pair<Bytes, double>> one = {{1000, 0.5}}, falling = {{10, 2}, {1000, 1}},
                                              steep = {{1000, 0.001}, {2000, 1}};
  EXPECT_EQ(relative_line(one).latency_ms, 0.5);
  EXPECT_EQ(relative_line(one).gb_per_s, kMaxGbPerS);
  EXPECT_GT(relative_line(falling).latency_ms, 1);
  EXPECT_EQ(relative_line(falling).gb_per_s, kMaxGbPerS);
  const std::vector<std::pair<Bytes, double>> no_time = {{10, 0}, {1000, 0}};
  EXPECT_NEAR(relative_line(no_time).latency_ms, 0, 1e-5);
  EXPECT_GT(relative_line(no_time).gb_per_s, 0);
  EXPECT_EQ(relative_line(steep).latency_ms, 0);
  EXPECT_GT(relative_line(steep).gb_per_s, 0);
}

// A core that two threads share: each takes twice as long, until the shorter one has ended.
TEST(SlowdownsOf, TwoThreadsOnOneCoreTakeTwiceAsLong) {
  const Slowdowns longer_operators = slowdowns_of({60, 10, 70, 20});
  EXPECT_DOUBLE_EQ(longer_operators.operators, 2);
  EXPECT_DOUBLE_EQ(longer_operators.loads, 2);
  const Slowdowns longer_loads = slowdowns_of({10, 60, 20, 70});
  EXPECT_DOUBLE_EQ(longer_loads.operators, 2);
  EXPECT_DOUBLE_EQ(longer_loads.loads, 2);
  const Slowdowns equal = slowdowns_of({30, 30, 60, 60});
  EXPECT_DOUBLE_EQ(equal.operators, 2);
  EXPECT_DOUBLE_EQ(equal.loads, 2);
}

TEST(SlowdownsOf, CoresOfTheirOwnSlowNothing) {
  const Slowdowns none = slowdowns_of({40, 25, 40, 25});
  EXPECT_DOUBLE_EQ(none.operators, 1);
  EXPECT_DOUBLE_EQ(none.loads, 1);
  const Slowdowns faster = slowdowns_of({40, 25, 39, 24});
  EXPECT_EQ(faster.operators, 1) << "noise";
  EXPECT_EQ(faster.loads, 1);
}

// One of the two is so short that what it did to the other is noise.
TEST(SlowdownsOf, KnowsNothingOfWhatHardlyOverlaps) {
  const Slowdowns few_loads = slowdowns_of({60, 1, 63, 1.5});
  EXPECT_EQ(few_loads.operators, 1);
  EXPECT_DOUBLE_EQ(few_loads.loads, 1.5);
  EXPECT_EQ(slowdowns_of({10, 10, 400, 400}).operators, kMostSlowdown);
}

}  // namespace
}  // namespace hios
