#include "scheduler/compare/gains.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/bounds/graph/shares.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/slow_simulator.h"

namespace hios::scheduler {
namespace {

using Numbers = std::vector<std::size_t>;
using test::kOracleRounding;

/// Returns the sum of all operators' times on gpu0.
double work_ms(const CostModel& costs) {
  double sum_ms = 0;
  for (std::size_t i = 0; i < costs.graph().size(); ++i) {
    sum_ms += costs.operator_ms(OpId(i), DeviceId(0));
  }
  return sum_ms;
}

TEST(Gains, ADiamondGainsAsMuchAsItsPathLets) {
  const Graph graph = test::small_graph({1, 4, 4, 1}, {{1, 2, 0}, {1, 3, 0}, {2, 4, 0}, {3, 4, 0}});
  const Platform one = test::devices(1, 1);
  const CostModel costs = CostModel::from_graph(graph, one);
  const auto gains = gains_of(costs, Numbers{2, 4});
  ASSERT_TRUE(gains);
  EXPECT_EQ(gains->one_ms, 10);
  EXPECT_FALSE(gains->quick);
  ASSERT_EQ(gains->gains.size(), 2u);
  EXPECT_EQ(gains->gains[0].devices, 2u);
  EXPECT_DOUBLE_EQ(gains->most(gains->gains[0]), 10.0 / 6);
  EXPECT_DOUBLE_EQ(gains->most(gains->gains[1]), 10.0 / 6);
  EXPECT_EQ(gains->gains[1].bound, "critical_path");
}

TEST(Gains, TransfersThatAreNotKnownTakeNoTime) {
  std::vector<Operator> operators(3);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = "v" + std::to_string(i + 1);
    operators[i].time_ms = 3;
    operators[i].has_time = true;
  }
  Edge edge;
  edge.from = OpId(0);
  edge.to = OpId(1);
  edge.size_bytes = 1000;
  const Graph graph("unknown", std::move(operators), {edge});
  const Platform one = test::devices(1, 1);
  const auto gains = gains_of(CostModel::from_graph(graph, one), Numbers{2});
  ASSERT_TRUE(gains);
  ASSERT_EQ(gains->gains.size(), 1u);
  EXPECT_EQ(gains->gains[0].bound_ms, 6);
}

TEST(Gains, AKnownBoundCountsForEqualDevices) {
  const Graph graph = test::small_graph({1, 1, 1}, {});
  const Platform two = test::devices(2, 1), three = test::devices(3, 1);
  const LowerBound known{2, "milp"};
  const auto at_two = gains_of(CostModel::from_graph(graph, two), Numbers{2, 4}, known);
  EXPECT_EQ(at_two->gains[0].bound, "milp");
  EXPECT_NE(at_two->gains[1].bound, "milp");
  const auto at_three = gains_of(CostModel::from_graph(graph, three), Numbers{2, 4}, known);
  EXPECT_NE(at_three->gains[0].bound, "milp");
  EXPECT_NE(at_three->gains[1].bound, "milp");
}

TEST(Gains, AreQuickForLargeGraphs) {
  std::vector<Operator> operators(kMostOperatorsOfGains + 1);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = "v" + std::to_string(i + 1);
    operators[i].time_ms = 1;
    operators[i].has_time = true;
  }
  const Graph graph("large", std::move(operators), {});
  const Platform one = test::devices(1, 1);
  const auto gains = gains_of(CostModel::from_graph(graph, one), Numbers{2, 4});
  ASSERT_TRUE(gains);
  EXPECT_TRUE(gains->quick);
  EXPECT_DOUBLE_EQ(gains->most(gains->gains[0]), 2);
  EXPECT_DOUBLE_EQ(gains->most(gains->gains[1]), 4);
  EXPECT_EQ(gains->gains[0].bound, "work");
}

/// Operators that fill half of a device: two devices run four at a time.
TEST(Gains, CountTheWorkOfLargeGraphsOnSeveralStreams) {
  std::vector<Operator> operators(kMostOperatorsOfGains + 1);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = "v" + std::to_string(i + 1);
    operators[i].time_ms = 1;
    operators[i].has_time = true;
    operators[i].utilization = 0.5;
  }
  const StageCostRule overlap{.kind = StageCostRule::Kind::kOverlap, .weight = 0};
  const Graph graph("large", std::move(operators), {}, overlap);
  const Platform one = test::devices(1, 8);
  const auto gains = gains_of(CostModel::from_graph(graph, one), Numbers{2});
  ASSERT_TRUE(gains);
  EXPECT_TRUE(gains->quick);
  EXPECT_FALSE(gains->serial);
  EXPECT_DOUBLE_EQ(gains->most(gains->gains[0]), 4);
  EXPECT_EQ(gains->gains[0].bound, "work");
}

TEST(Gains, AreUnknownWhereNoDeviceRunsAll) {
  std::vector<Operator> operators(2);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = "v" + std::to_string(i + 1);
    operators[i].time_by_device["gpu" + std::to_string(i)] = 1;
  }
  const Graph graph("apart", std::move(operators), {});
  const Platform two = test::devices(2, 1);
  EXPECT_FALSE(gains_of(CostModel::from_graph(graph, two), Numbers{2}));
}

/// Expects no gain of two devices below that of the best of all schedules.
void expect_above(const Gains& gains, double one_ms, double best_ms) {
  ASSERT_EQ(gains.gains.size(), 1u);
  EXPECT_NEAR(gains.one_ms, one_ms, kOracleRounding * one_ms);
  EXPECT_LE(gains.gains[0].bound_ms, best_ms * (1 + kOracleRounding));
  if (best_ms > 0) {
    EXPECT_GE(gains.most(gains.gains[0]) * (1 + kOracleRounding), one_ms / best_ms);
  }
}

constexpr std::uint64_t kGraphs = 60;

TEST(Gains, AreNeverBelowTheBestOfAllSchedules) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::size_t size = seed % 10 == 0 ? 7 : 2 + random.below(5);
    const Graph graph = test::random_graph(size, 0.4, test::style_by_number(seed), random);
    const int streams = 1 + static_cast<int>(seed % 2);
    const Platform one = test::devices(1, streams), two = test::devices(2, streams);
    const double best_ms =
        test::brute_force(graph, two, test::plain_costs_of(graph, two)).latency_ms;
    for (const Platform* const platform : {&one, &two}) {
      const CostModel costs = CostModel::from_graph(graph, *platform);
      const auto gains = gains_of(costs, Numbers{2});
      ASSERT_TRUE(gains);
      expect_above(*gains, work_ms(costs), best_ms);
    }
    const CostModel costs = CostModel::from_graph(graph, one);
    const Shares shares(graph, costs);
    std::vector<double> path_ms, work_ms;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      path_ms.push_back(shares.path_ms(OpId(i), DeviceId(0)));
      work_ms.push_back(shares.work_ms(OpId(i), DeviceId(0)));
    }
    EXPECT_LE(quick_gain(graph, path_ms, work_ms, 2).bound_ms, best_ms * (1 + kOracleRounding));
  }
}

TEST(Gains, ByAProfileAreNeverBelowTheBestOfAllSchedules) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Graph graph = test::random_graph(2 + random.below(4), 0.4, {}, random);
    const Platform two = test::devices(2, 1 + static_cast<int>(seed % 2));
    const Profile profile = test::random_profile(graph, two, random);
    const CostModel costs = CostModel::from_profile(graph, two, profile);
    const auto gains = gains_of(costs, Numbers{2});
    ASSERT_TRUE(gains);
    const double best_ms = test::brute_force(graph, two, test::plain_costs_of(costs)).latency_ms;
    expect_above(*gains, work_ms(costs) + costs.launch_ms(DeviceId(0)), best_ms);
  }
}

}  // namespace
}  // namespace hios::scheduler
