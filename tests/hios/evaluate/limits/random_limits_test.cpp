// Properties of random schedules of random graphs.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "hios/evaluate/limits/limits.h"
#include "hios/evaluate/simulate.h"
#include "support/graphs/dag_generator.h"

namespace hios {
namespace {

constexpr std::uint64_t kGraphs = 300;
constexpr double kRoundingOfLimits = 1e-9;

/// Returns the longest path by following every path.
double plain_longest_path_ms(const Graph& graph, const std::vector<double>& times) {
  const std::function<double(OpId)> from = [&](OpId op) {
    double rest_ms = 0;
    for (const Edge& edge : graph.edges()) {
      if (edge.from == op) rest_ms = std::max(rest_ms, from(edge.to));
    }
    return times[op.index()] + rest_ms;
  };
  double longest_ms = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) longest_ms = std::max(longest_ms, from(OpId(i)));
  return longest_ms;
}

bool has_edge(const Graph& graph, OpId from, OpId to) {
  return std::ranges::any_of(graph.edges(),
                             [&](const Edge& edge) { return edge.from == from && edge.to == to; });
}

void expect_longest_path(const Graph& graph, const std::vector<double>& times) {
  const OperatorPath path = longest_path(graph, times);
  EXPECT_NEAR(path.ms, plain_longest_path_ms(graph, times), kRoundingOfLimits);
  double sum_ms = 0;
  for (std::size_t i = 0; i < path.operators.size(); ++i) {
    sum_ms += times[path.operators[i].index()];
    if (i == 0) continue;
    EXPECT_TRUE(has_edge(graph, path.operators[i - 1], path.operators[i]));
  }
  EXPECT_NEAR(sum_ms, path.ms, kRoundingOfLimits);
}

/// Returns the sum of the costs of a device's stages.
double stages_ms(const Schedule& schedule, const CostModel& costs, DeviceId device) {
  double sum_ms = 0;
  for (const Stage& stage : schedule.stages(device)) sum_ms += costs.stage_ms(stage, device);
  return sum_ms;
}

void expect_times_add_up(const Graph& graph, const Schedule& schedule, const CostModel& costs) {
  const Timeline timeline = simulate(graph, schedule, costs);
  const std::vector<DeviceTimes> times = device_times(graph, schedule, timeline, costs);
  for (std::size_t d = 0; d < times.size(); ++d) {
    EXPECT_NEAR(times[d].busy_ms, stages_ms(schedule, costs, DeviceId(d)), kRoundingOfLimits);
    EXPECT_NEAR(times[d].busy_ms + times[d].waiting_ms() + times[d].idle_ms, timeline.latency_ms,
                kRoundingOfLimits);
    EXPECT_GE(times[d].idle_ms, -kRoundingOfLimits);
    for (const Wait& wait : times[d].waits) {
      EXPECT_GT(wait.ms, 0);
      EXPECT_NE(wait.from, DeviceId(d));
    }
  }
  const CriticalChain chain = critical_chain(graph, schedule, timeline, &costs);
  EXPECT_NEAR(chain.stages_ms + chain.transfers_ms, timeline.latency_ms, kRoundingOfLimits)
      << "the chain has a gap";
  EXPECT_NEAR(chain.other_ms, 0, kRoundingOfLimits);
}

TEST(RandomLimits, PathsAreTheLongestAndTimesAddUp) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::size_t size = 1 + random.below(12);
    const Graph graph = test::random_graph(size, 0.3, test::style_by_number(seed), random);
    const auto contention = static_cast<Contention>(seed % 3);
    const Platform platform =
        test::devices(1 + random.below(3), 1 + static_cast<int>(random.below(3)), contention);
    const CostModel costs = CostModel::from_graph(graph, platform);
    expect_longest_path(graph, least_operator_ms(costs));
    expect_times_add_up(graph, test::random_schedule(graph, platform, random), costs);
  }
}

}  // namespace
}  // namespace hios
