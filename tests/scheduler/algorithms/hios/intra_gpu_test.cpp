#include "scheduler/algorithms/hios/intra_gpu.h"

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/algorithms/hios/longest_path.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios::scheduler {
namespace {

using test::stage;
using test::v;

const StageCostRule kHalf{StageCostRule::Kind::kOverlap,
                          0};  // operators at half load: max, not sum

Schedule merged(const Graph& graph, const Platform& platform, const Schedule& schedule,
                std::size_t window) {
  return parallelize(graph, CostModel::from_graph(graph, platform), schedule, window).schedule;
}

// v1 → {v2, v3} → v4 on one device: v2 and v3 are merged.
TEST(IntraGpu, MergesIndependentNeighbours) {
  const Graph graph =
      test::small_graph({1, 2, 2, 1}, {{1, 2, 0}, {1, 3, 0}, {2, 4, 0}, {3, 4, 0}}, kHalf);
  const Schedule serial{{one_operator_stages(v({1, 2, 3, 4}))}};
  const Schedule expected{{{stage({{1}}), stage({{2}, {3}}), stage({{4}})}}};
  EXPECT_EQ(merged(graph, test::devices(1, 2), serial, 4), expected);
}

TEST(IntraGpu, StreamsLimitTheGroups) {
  const Graph graph = test::small_graph({2, 2, 2}, {}, kHalf);
  const Schedule serial{{one_operator_stages(v({1, 2, 3}))}};
  EXPECT_EQ(merged(graph, test::devices(1, 1), serial, 4), serial);
  const Schedule pairs{{{stage({{1}, {2}}), stage({{3}})}}};
  EXPECT_EQ(merged(graph, test::devices(1, 2), serial, 4), pairs);
  const Schedule all_three{{{stage({{1}, {2}, {3}})}}};
  EXPECT_EQ(merged(graph, test::devices(1, 3), serial, 4), all_three);
}

TEST(IntraGpu, WindowLimitsTheGroups) {
  const Graph graph = test::small_graph({2, 2, 2, 2}, {}, kHalf);
  const Schedule serial{{one_operator_stages(v({1, 2, 3, 4}))}};
  const Schedule expected{{{stage({{1}, {2}}), stage({{3}, {4}})}}};
  EXPECT_EQ(merged(graph, test::devices(1, 8), serial, 2), expected);
  EXPECT_EQ(merged(graph, test::devices(1, 8), serial, 1), serial);
}

// Merging v2 and v3 would save time on their device, but v2 would have to wait for the late v3's
// input and so delay v4 on the other device: the latency would rise.
TEST(IntraGpu, KeepsAMergeOnlyIfTheLatencyFalls) {
  const Graph graph = test::small_graph({4, 2, 2, 9}, {{1, 3, 1}, {2, 4, 1}}, kHalf);
  const Schedule schedule{{one_operator_stages(v({2, 3})), one_operator_stages(v({1, 4}))}};
  EXPECT_EQ(merged(graph, test::devices(2, 4), schedule, 4), schedule);
}

// v1 → v2 on the other device, where v2 comes before v3, which v4 needs. No path of edges connects
// v1 and v4, but merged they would depend on themselves. The cost of {v1, v4, v5} makes the merge
// attractive.
TEST(IntraGpu, SeesCyclesThroughTheOrderOnOtherDevices) {
  const Graph graph = test::small_graph({2, 1, 1, 2, 2}, {{1, 2, 0}, {3, 4, 0}}, kHalf);
  const Platform platform({{"gpu0", "gpu", 0, 4, 0, ""}, {"gpu1", "gpu", 0, 1, 0, ""}});
  const Schedule schedule{{one_operator_stages(v({1, 4, 5})), one_operator_stages(v({2, 3}))}};
  ASSERT_TRUE(validate(graph, platform, schedule).empty());
  const Schedule stuck{{{stage({{1}, {4}, {5}})}, one_operator_stages(v({2, 3}))}};
  ASSERT_FALSE(validate(graph, platform, stuck).empty());
  const Schedule expected{{{stage({{1}}), stage({{4}, {5}})}, one_operator_stages(v({2, 3}))}};
  EXPECT_EQ(merged(graph, platform, schedule, 4), expected);
}

// v1 → v2 → v3 with v2 elsewhere: v1 and v3 are neighbours but depend on each other.
TEST(IntraGpu, SeesDependenceThroughOtherDevices) {
  const Graph graph = test::small_graph({2, 1, 2}, {{1, 2, 0}, {2, 3, 0}}, kHalf);
  const Schedule schedule{{one_operator_stages(v({1, 3})), one_operator_stages(v({2}))}};
  EXPECT_EQ(merged(graph, test::devices(2, 4), schedule, 4), schedule);
}

TEST(IntraGpu, SerialCostsMergeNothing) {
  Random random(2, "serial");
  test::CostStyle style;
  style.overlap = false;
  const Graph graph = test::random_graph(30, 0.1, style, random);
  const Platform platform = test::devices(2, 4);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule before = map_longest_paths(graph, costs, {}).schedule;
  EXPECT_EQ(parallelize(graph, costs, before, 4).schedule, before);
}

// Merging pays: no latency rises, and the schedule stays valid, on large graphs too.
TEST(IntraGpu, NeverWorseAndAlwaysValid) {
  std::size_t better = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "never worse");
    test::CostStyle style;
    style.small_integers = seed % 4 == 0;
    const Graph graph = test::random_graph(60, 0.06, style, random);
    const Platform platform = test::devices(1 + seed % 4, 1 + static_cast<int>(seed % 5));
    const CostModel costs = CostModel::from_graph(graph, platform);
    const Schedule before = map_longest_paths(graph, costs, {}).schedule;
    const Schedule after = parallelize(graph, costs, before, 1 + seed % 6).schedule;
    EXPECT_TRUE(validate(graph, platform, after).empty());
    const double old_ms = simulate(graph, before, costs).latency_ms;
    const double new_ms = simulate(graph, after, costs).latency_ms;
    EXPECT_LE(new_ms, old_ms);
    EXPECT_EQ(new_ms < old_ms, after != before);
    if (new_ms < old_ms) ++better;
  }
  EXPECT_GT(better, 20u);
}

TEST(IntraGpu, OutOfTimeKeepsWhatIsMerged) {
  const Graph graph = test::small_graph({2, 2, 2, 2}, {}, kHalf);
  const Platform platform = test::devices(1, 2);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule serial{{one_operator_stages(v({1, 2, 3, 4}))}};
  int calls = 0;
  const TimedSchedule found =
      parallelize(graph, costs, serial, 2, Deadline([&] { return ++calls > 1; }));
  EXPECT_TRUE(found.timed_out);
  const Schedule expected{{{stage({{1}, {2}}), stage({{3}}), stage({{4}})}}};
  EXPECT_EQ(found.schedule, expected);
}

}  // namespace
}  // namespace hios::scheduler
