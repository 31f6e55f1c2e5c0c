#include "hios/evaluate/limits/limits.h"

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

// Each kind of limit on a small graph, with numbers that are found by hand.

namespace hios {
namespace {

using test::stage;

/// The limits of a schedule on graph costs, and the times of its devices.
struct Judged {
  Limits limits;
  std::vector<DeviceTimes> times;
};

Judged judged(const Graph& graph, const Platform& platform, const Schedule& schedule,
              std::string_view bound = {}) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Timeline timeline = simulate(graph, schedule, costs);
  Judged result{{}, device_times(graph, schedule, timeline, costs)};
  result.limits = limits_of({&graph, &schedule, &timeline, result.times, &costs},
                            least_operator_ms(costs), bound);
  return result;
}

/// Returns operators of 2 bytes each without edges.
Graph heavy_operators(std::size_t number) {
  std::vector<Operator> operators(number);
  for (std::size_t i = 0; i < number; ++i) {
    operators[i].name = "v" + std::to_string(i + 1);
    operators[i].time_ms = 1;
    operators[i].has_time = true;
    operators[i].memory_bytes = 2;
  }
  return Graph("heavy", std::move(operators), {});
}

TEST(Limits, AChainIsItsLongestPath) {
  const Graph graph = test::small_graph({2, 3, 4}, {{1, 2, 1}, {2, 3, 1}});
  const Judged chain =
      judged(graph, test::devices(1, 1), {{{stage({{1}}), stage({{2}}), stage({{3}})}}});
  EXPECT_EQ(chain.limits.limit, Limit::kLongestPath);
  EXPECT_EQ(chain.limits.path.operators, test::v({1, 2, 3}));
  EXPECT_EQ(chain.limits.path.ms, 9);
  EXPECT_EQ(chain.limits.work_ms, 9);
  EXPECT_EQ(chain.limits.path_share(), 1);
  EXPECT_EQ(chain.limits.chain.stages, 3u);
  EXPECT_EQ(chain.limits.chain.stages_ms, 9);
  EXPECT_TRUE(chain.limits.chain.transfers.empty());
  EXPECT_EQ(chain.limits.chain.other_ms, 0);
  EXPECT_EQ(chain.limits.busy_share, 1);
  EXPECT_EQ(chain.limits.devices_used, 1u);
}

TEST(Limits, OneStreamIsLimitedByItsWork) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {});
  const Judged all = judged(graph, test::devices(2, 1),
                            {{{stage({{1}}), stage({{2}}), stage({{3}}), stage({{4}})}, {}}});
  EXPECT_EQ(all.limits.limit, Limit::kWork);
  EXPECT_EQ(all.limits.path.ms, 1);
  EXPECT_EQ(all.limits.path_share(), 0.25);
  EXPECT_EQ(all.limits.busiest, test::d0);
  EXPECT_EQ(all.limits.busy_share, 1);
  EXPECT_EQ(all.limits.devices_used, 1u);
  EXPECT_EQ(all.times[1].idle_ms, 4);
}

// gpu0: v1 from 0 to 1. gpu1: v2 from 9 to 10, as the transfer takes 8.
TEST(Limits, TransfersOnTheCriticalChain) {
  const Graph graph = test::small_graph({1, 1}, {{1, 2, 8}});
  const Judged sent = judged(graph, test::devices(2, 1), {{{stage({{1}})}, {stage({{2}})}}});
  EXPECT_EQ(sent.limits.limit, Limit::kTransfers);
  EXPECT_EQ(sent.limits.latency_ms, 10);
  EXPECT_EQ(sent.limits.chain.transfers_ms, 8);
  EXPECT_EQ(sent.limits.chain.stages_ms, 2);
  ASSERT_EQ(sent.limits.chain.transfers.size(), 1u);
  EXPECT_EQ(sent.limits.chain.transfers[0].producer, test::v1);
  EXPECT_EQ(sent.limits.chain.transfers[0].from, test::d0);
  EXPECT_EQ(sent.limits.chain.transfers[0].to, test::d1);
  EXPECT_EQ(sent.times[0].busy_ms, 1);
  EXPECT_EQ(sent.times[0].idle_ms, 9);
  EXPECT_TRUE(sent.times[0].waits.empty());
  EXPECT_EQ(sent.times[1].busy_ms, 1);
  EXPECT_EQ(sent.times[1].idle_ms, 0);
  ASSERT_EQ(sent.times[1].waits.size(), 1u);
  EXPECT_EQ(sent.times[1].waits[0].producer, test::v1);
  EXPECT_EQ(sent.times[1].waits[0].from, test::d0);
  EXPECT_EQ(sent.times[1].waits[0].ms, 9);
}

TEST(Limits, MemoryKeepsOperatorsFromAnIdleDevice) {
  const Graph graph = heavy_operators(2);
  const Schedule on_one{{{stage({{1}}), stage({{2}})}, {}}};
  EXPECT_EQ(judged(graph, test::devices_with_memory({4, 1}), on_one).limits.limit, Limit::kMemory);
  EXPECT_EQ(judged(graph, test::devices_with_memory({4, 2}), on_one).limits.limit, Limit::kWork)
      << "one of them fits on gpu1";
  EXPECT_EQ(judged(graph, test::devices_with_memory({4, 0}), on_one).limits.limit, Limit::kWork);
  EXPECT_EQ(judged(graph, test::devices_with_memory({4, 2}), on_one, "memory").limits.limit,
            Limit::kMemory)
      << "the largest bound is that of memory";
}

// gpu0: v1 from 0 to 4. gpu1: v2, which needs it, from 4 to 8, and only then v3 to 12.
TEST(Limits, WaitsOfAPoorOrder) {
  const Graph graph = test::small_graph({4, 4, 4}, {{1, 2, 0}});
  const Judged poor =
      judged(graph, test::devices(2, 1), {{{stage({{1}})}, {stage({{2}}), stage({{3}})}}});
  EXPECT_EQ(poor.limits.limit, Limit::kWaits);
  EXPECT_EQ(poor.limits.latency_ms, 12);
  EXPECT_EQ(poor.limits.path.ms, 8);
  EXPECT_EQ(poor.limits.busiest, test::d1);
  EXPECT_DOUBLE_EQ(poor.limits.busy_share, 8.0 / 12);
  EXPECT_EQ(poor.limits.devices_used, 2u);
  EXPECT_EQ(poor.times[1].waiting_ms(), 4);
}

// gpu1 waits for v1 (until 2 + 1), then for v2 (until 5 + 1): one wait each.
TEST(Limits, WaitsAreByProducer) {
  const Graph graph = test::small_graph({2, 3, 1, 1}, {{1, 3, 1}, {2, 4, 1}, {1, 4, 1}});
  const Judged both = judged(graph, test::devices(2, 1),
                             {{{stage({{1}}), stage({{2}})}, {stage({{3}}), stage({{4}})}}});
  ASSERT_EQ(both.times[1].waits.size(), 2u);
  EXPECT_EQ(both.times[1].waits[0].producer, test::v1);
  EXPECT_EQ(both.times[1].waits[0].ms, 3);
  EXPECT_EQ(both.times[1].waits[1].producer, test::v2);
  EXPECT_EQ(both.times[1].waits[1].ms, 2);
  const std::vector<WaitsFor> joined = waits_by_device(both.times[1]);
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].from, test::d0);
  EXPECT_EQ(joined[0].ms, 5);
  EXPECT_EQ(joined[0].producers, test::v({1, 2}));
}

TEST(Limits, LongestOperatorsKeepTheirOrder) {
  const std::vector<OpId> path = test::v({1, 2, 3, 4});
  const std::vector<double> times = {1, 5, 1, 7};
  EXPECT_EQ(longest_operators(path, times, 2), test::v({2, 4}));
  EXPECT_EQ(longest_operators(path, times, 3), test::v({1, 2, 4})) << "the first among equals";
  EXPECT_EQ(longest_operators(path, times, 9), path);
}

TEST(Limits, AnEmptyGraphHasNone) {
  const Graph graph("empty", {}, {});
  const Judged none = judged(graph, test::devices(2, 1), {{{}, {}}});
  EXPECT_TRUE(none.limits.path.operators.empty());
  EXPECT_EQ(none.limits.path_share(), 0);
  EXPECT_EQ(none.limits.devices_used, 0u);
}

}  // namespace
}  // namespace hios
