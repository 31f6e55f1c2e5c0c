// The limits of timelines with loads, and waits for lanes (hios/evaluate/limits/).

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "hios/evaluate/limits/limits.h"
#include "hios/evaluate/simulate.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios {
namespace {

using test::d0;
using test::d1;
using test::stage;
using test::v1;
using test::v2;

constexpr double kRoundingMs = 1e-6;
constexpr Bytes kLimitMegabyte = 1000000;
constexpr StoreId limit_store(0);

/// Returns a graph of operators of 1 ms with these megabytes of parameters, each of which reads a
/// megabyte of the one before it.
Graph cold_chain(const std::vector<Bytes>& megabytes) {
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  for (const Bytes each : megabytes) {
    Operator& op = operators.emplace_back();
    op.name = "v" + std::to_string(operators.size());
    op.time_ms = 1;
    op.has_time = true;
    op.parameter_bytes = each * kLimitMegabyte;
    if (operators.size() < 2) continue;
    edges.push_back({OpId(operators.size() - 2), OpId(operators.size() - 1), kLimitMegabyte, {}});
  }
  return Graph("chain", std::move(operators), std::move(edges));
}

/// Returns two devices whose routes have 1 GB/s and share nothing.
Platform separate_routes(Bytes memory_bytes = 0) {
  const Platform alike = test::devices(2, 1);
  std::vector<Device> devices(alike.devices().begin(), alike.devices().end());
  for (Device& device : devices) device.memory_bytes = memory_bytes;
  return Platform(std::move(devices), {{"dram", "", StoreKind::kMemory}}, {},
                  {{limit_store, d0, {}, 0, 1},
                   {limit_store, d1, {}, 0, 1},
                   {d0, d1, {}, 0, 1},
                   {d1, d0, {}, 0, 1}});
}

struct JudgedCold {
  Timeline timeline;
  std::vector<DeviceTimes> times;
  Limits limits;
};

JudgedCold judged_cold(const Graph& graph, const Platform& platform, const Schedule& schedule) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  JudgedCold result{simulate(graph, schedule, costs), {}, {}};
  result.times = device_times(graph, schedule, result.timeline, costs);
  result.limits = limits_of({&graph, &schedule, &result.timeline, result.times, &costs},
                            least_operator_ms(costs));
  return result;
}

// v1's parameters come in 2 ms, v2's in 6 more. v2 runs from 8 to 9 ms.
TEST(ColdLimits, AStageWaitsForTheLaneOfItsParameters) {
  const Graph graph = cold_chain({2, 6});
  Schedule schedule{{{stage({{1}}), stage({{2}})}, {}}};
  schedule.weights = Weights{{{{v1, limit_store, d0}, {v2, limit_store, d0}}}};
  const JudgedCold cold = judged_cold(graph, separate_routes(), schedule);
  EXPECT_EQ(cold.limits.limit, Limit::kLoads);
  EXPECT_EQ(to_string(cold.limits.limit), "loads");
  EXPECT_EQ(cold.limits.chain.stages, 1u);
  EXPECT_EQ(cold.limits.chain.loads_ms, 8);
  ASSERT_EQ(cold.limits.chain.loads.size(), 2u);
  EXPECT_EQ(cold.limits.chain.loads[0].of, v1);
  EXPECT_EQ(cold.limits.chain.loads[0].ms, 2);
  EXPECT_EQ(cold.limits.chain.loads[1].of, v2);
  EXPECT_EQ(cold.limits.chain.loads[1].to, d0);
  EXPECT_TRUE(cold.times[0].waits.empty());
  ASSERT_EQ(cold.times[0].load_waits.size(), 2u);
  EXPECT_EQ(cold.times[0].load_waits[0].of, v2) << "5 ms after v1";
  EXPECT_EQ(cold.times[0].load_waits[0].ms, 5);
  EXPECT_EQ(cold.times[0].waiting_ms(), 7);
  const std::vector<WaitsForLane> lanes = waits_by_lane(cold.times[0]);
  ASSERT_EQ(lanes.size(), 1u);
  EXPECT_EQ(lanes[0].lane, 0u);
  EXPECT_EQ(lanes[0].ms, 7);
  EXPECT_EQ(lanes[0].operators, (std::vector<OpId>{v2, v1}));
}

// v2 waits for its parameters until 2 ms, and for v1's tensor until 4 ms.
TEST(ColdLimits, AWaitCountsForTheLaterOfTensorAndLoad) {
  const Graph graph = cold_chain({2, 2});
  Schedule schedule{{{stage({{1}})}, {stage({{2}})}}};
  schedule.weights = Weights{{{{v1, limit_store, d0}}, {{v2, limit_store, d1}}}};
  const JudgedCold cold = judged_cold(graph, separate_routes(), schedule);
  EXPECT_TRUE(cold.times[1].load_waits.empty());
  ASSERT_EQ(cold.times[1].waits.size(), 1u);
  EXPECT_EQ(cold.times[1].waits[0].ms, 4);
  EXPECT_EQ(cold.limits.chain.transfers_ms, 1);
  EXPECT_EQ(cold.limits.chain.loads_ms, 2);
  EXPECT_EQ(cold.limits.chain.stages_ms, 2);
  EXPECT_EQ(cold.limits.chain.other_ms, 0);
}

// There is room for one set. v2's load waits for v1's stage, so that is on the critical path.
TEST(ColdLimits, ALoadMayWaitForAStageThatMakesRoom) {
  const Graph graph = cold_chain({2, 6});
  Schedule schedule{{{stage({{1}}), stage({{2}})}, {}}};
  schedule.weights = Weights{{{{v2, limit_store, d0}}}};
  schedule.weights->resident = {{v1, d0}};
  schedule.weights->evictions = {{v1, d0, v1}};
  const JudgedCold cold = judged_cold(graph, separate_routes(6 * kLimitMegabyte), schedule);
  EXPECT_EQ(cold.timeline.latency_ms, 1 + 6 + 1);
  EXPECT_EQ(cold.limits.chain.stages, 2u);
  EXPECT_EQ(cold.limits.chain.stages_ms, 2);
  EXPECT_EQ(cold.limits.chain.loads_ms, 6);
}

TEST(ColdLimits, TimesAddUpAndChainsHaveNoGap) {
  std::size_t chains_with_loads = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "cold limits");
    test::ColdStyle style;
    style.whole_numbers = seed % 3 == 0;
    style.memory = seed % 2 == 0 ? test::ColdMemory::kUnlimited : test::ColdMemory::kEnough;
    const test::ColdCase made = test::random_cold_case(style, random);
    const JudgedCold cold = judged_cold(made.graph, made.platform, made.schedule);
    const double latency_ms = cold.timeline.latency_ms;
    for (const DeviceTimes& times : cold.times) {
      EXPECT_NEAR(times.busy_ms + times.waiting_ms() + times.idle_ms, latency_ms, kRoundingMs);
    }
    const CriticalChain& chain = cold.limits.chain;
    EXPECT_NEAR(chain.stages_ms + chain.transfers_ms + chain.loads_ms, latency_ms, kRoundingMs);
    EXPECT_NEAR(chain.other_ms, 0, kRoundingMs) << "the chain has a gap";
    chains_with_loads += !chain.loads.empty();
  }
  EXPECT_GT(chains_with_loads, 100u);
}

}  // namespace
}  // namespace hios
