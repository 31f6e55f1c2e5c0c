// Bounds of cold starts: by hand, against brute force, and against random schedules.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/cold/bounds/store_cut.h"
#include "scheduler/cold/cold_start_bound.h"
#include "scheduler/cold/loads.h"
#include "scheduler/cold/pipelined.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/cold/cold_brute_force.h"

namespace hios::scheduler {
namespace {

constexpr Bytes kMillion = 1'000'000;
constexpr double kRoundingOfBounds = 1e-6;

struct OperatorCost {
  double ms;
  Bytes bytes;
};

Graph bounded_graph(const std::vector<OperatorCost>& costs, bool chain) {
  std::vector<Operator> operators(costs.size());
  std::vector<Edge> edges;
  for (std::size_t v = 0; v < costs.size(); ++v) {
    operators[v].name = "v" + std::to_string(v);
    operators[v].time_ms = costs[v].ms;
    operators[v].has_time = true;
    operators[v].parameter_bytes = costs[v].bytes;
    if (chain && v > 0) edges.push_back({OpId(v - 1), OpId(v), 0, 0.0, {}});
  }
  return Graph("graph", std::move(operators), std::move(edges));
}

std::vector<Device> gpus(std::size_t count) {
  std::vector<Device> devices(count);
  for (std::size_t d = 0; d < count; ++d) {
    devices[d].name = "gpu" + std::to_string(d);
    devices[d].kind = "gpu";
  }
  return devices;
}

/// One device with a bus of 1 GB/s from memory.
Platform one_bus() {
  return Platform(gpus(1), {{"dram", "", StoreKind::kMemory}}, {{"pcie", 1}},
                  {{StoreId(0), DeviceId(0), {BusId(0)}, 0.5, 100}});
}

double bound_named(const std::string& name, const Graph& graph, const Platform& platform) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  for (const LowerBound& bound : cold_start_bounds(graph, costs)) {
    if (bound.name == name) return bound.ms;
  }
  ADD_FAILURE() << name;
  return -1;
}

double pipelined_latency(const Graph& graph, const Platform& platform) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  Context context;
  context.bound = LowerBound{0, "none"};
  return pipelined(Problem(costs, Objective::kColdStart), {}, context).latency_ms;
}

// 2 and 4 MB in two loads of 0.5 ms latency, which only two lanes would overlap, but the bound
// does: 6.5 ms of loads, then v1.
TEST(ColdBounds, ArrivalsFollowTheLoadsAlongAChain) {
  const Graph chain = bounded_graph({{1, 2 * kMillion}, {3, 4 * kMillion}, {2, 0}}, true);
  EXPECT_NEAR(bound_named("arrivals", chain, one_bus()), 6.5 + 3 + 2, kRoundingOfBounds);
  EXPECT_NEAR(pipelined_latency(chain, one_bus()), 7 + 3 + 2, kRoundingOfBounds);
}

// Johnson's order is v1, v0: loads end at 1.5 and 4.5 ms. No path shows that v0 follows v1.
TEST(ColdBounds, TheFlowShopOrdersIndependentLoads) {
  const Graph both = bounded_graph({{1, 3 * kMillion}, {4, kMillion}}, false);
  EXPECT_NEAR(bound_named("flow_shop", both, one_bus()), 1.5 + 4 + 1, kRoundingOfBounds);
  EXPECT_NEAR(bound_named("arrivals", both, one_bus()), 1.5 + 4, kRoundingOfBounds);
  EXPECT_NEAR(bound_named("loads", both, one_bus()), 4.5 + 1, kRoundingOfBounds);
}

// v0 and v1 can run on gpu0 alone, whose bus is slow; the other bus brings nothing for them unless
// gpu1 passes it on.
TEST(ColdBounds, OperatorsOfOneDeviceWaitForItsBuses) {
  const Graph both = bounded_graph({{1, 2 * kMillion}, {1, 2 * kMillion}}, false);
  std::vector<Operator> operators(both.operators().begin(), both.operators().end());
  for (Operator& op : operators) op.allowed = {"gpu0"};
  operators.push_back(operators.front());
  operators.back().name = "anywhere";
  operators.back().allowed.clear();
  const Graph confined("graph", operators, {});
  const Platform unlike(gpus(2), {{"dram", "", StoreKind::kMemory}}, {{"slow", 1}, {"fast", 9}},
                        {{StoreId(0), DeviceId(0), {BusId(0)}, 0, 100},
                         {StoreId(0), DeviceId(1), {BusId(1)}, 0, 100},
                         {DeviceId(0), DeviceId(1), {BusId(0)}, 0, 100},
                         {DeviceId(1), DeviceId(0), {BusId(0)}, 0, 100}});
  EXPECT_NEAR(bound_named("flow_shop", confined, unlike), 4 + 1, kRoundingOfBounds);
}

TEST(ColdBounds, TheCutIsTheLeastOverAllBuses) {
  const DeviceId both[] = {DeviceId(0), DeviceId(1)}, first[] = {DeviceId(0)};
  const Platform chained(gpus(2), {{"dram", "", StoreKind::kMemory}},
                         {{"a", 5}, {"b", 3}, {"c", 1}, {"peer", 2}},
                         {{StoreId(0), DeviceId(0), {BusId(0), BusId(1)}, 0, 100},
                          {StoreId(0), DeviceId(1), {BusId(0), BusId(2)}, 0, 100},
                          {DeviceId(1), DeviceId(0), {BusId(3)}, 0, 100},
                          {DeviceId(0), DeviceId(1), {BusId(3)}, 0, 100}});
  EXPECT_DOUBLE_EQ(cut_bytes_per_ms(chained, both, 9), 4e6);   // b and c
  EXPECT_DOUBLE_EQ(cut_bytes_per_ms(chained, first, 9), 4e6);  // b, and c through gpu1
  const Platform without_buses(gpus(1), {{"dram", "", StoreKind::kMemory}}, {},
                               {{StoreId(0), DeviceId(0), {}, 0, 2}});
  // Two loads and a read in place at a time, each at 2 GB/s.
  EXPECT_DOUBLE_EQ(cut_bytes_per_ms(without_buses, first, 2), 6e6);
}

// A set alone takes 2 ms over a route without buses, whatever the number of lanes.
TEST(ColdBounds, ARouteWithoutBusesHasItsOwnLimit) {
  const Platform without_buses(gpus(1), {{"dram", "", StoreKind::kMemory}}, {},
                               {{StoreId(0), DeviceId(0), {}, 0, 2}});
  const Graph one = bounded_graph({{1, 4 * kMillion}}, false);
  EXPECT_NEAR(bound_named("arrivals", one, without_buses), 2 + 1, kRoundingOfBounds);
}

// In place, v0 takes 3 ms and moves 1 MB: it may run before its bytes are there.
TEST(ColdBounds, AReadInPlaceMovesItsLeastBytes) {
  const Graph bare = bounded_graph({{2, 4 * kMillion}, {1, 2 * kMillion}}, true);
  std::vector<Operator> operators(bare.operators().begin(), bare.operators().end());
  operators[0].in_place_ms = 3;
  operators[0].in_place_bytes = kMillion;
  const Graph graph("graph", operators, {bare.edges().begin(), bare.edges().end()});
  EXPECT_NEAR(bound_named("loads", graph, one_bus()), 3.5 + 1, kRoundingOfBounds);
  EXPECT_NEAR(bound_named("arrivals", graph, one_bus()), 3.5 + 1, kRoundingOfBounds);
}

/// Two devices of little memory, each with a bus of 10 GB/s from memory.
Platform of_little_memory() {
  std::vector<Device> devices = gpus(2);
  devices[0].memory_bytes = 8 * kMillion;
  devices[1].memory_bytes = 16 * kMillion;
  return Platform(std::move(devices), {{"dram", "", StoreKind::kMemory}},
                  {{"pcie0", 10}, {"pcie1", 10}},
                  {{StoreId(0), DeviceId(0), {BusId(0)}, 0, 100},
                   {StoreId(0), DeviceId(1), {BusId(1)}, 0, 100},
                   {DeviceId(0), DeviceId(1), {}, 0, 100},
                   {DeviceId(1), DeviceId(0), {}, 0, 100}});
}

/// Returns an operator of 1 ms on the first of two devices and 10 ms on the second.
Operator faster_on_the_first(std::string name, Bytes parameters) {
  Operator op;
  op.name = std::move(name);
  op.time_ms = 1;
  op.has_time = true;
  op.time_by_device["gpu1"] = 10;
  op.parameter_bytes = parameters;
  return op;
}

/// Expects no finding, a latency, and no bound of a cold start above it.
void expect_bounded(const Graph& graph, const Schedule& schedule, double latency_ms) {
  const Platform platform = of_little_memory();
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_TRUE(validate(graph, platform, schedule, Objective::kColdStart).empty());
  const double ms = simulate(graph, schedule, costs).latency_ms;
  EXPECT_NEAR(ms, latency_ms, kRoundingOfBounds);
  EXPECT_LE(cold_start_bound(graph, costs).ms, ms + kRoundingOfBounds);
  const Problem problem(costs, Objective::kColdStart);
  const ScheduleResult result = complete(schedule, Outcome::kFeasible, problem, {}, {});
  EXPECT_LE(result.lower_bound_ms, ms);
}

// The 10 MB have no room on the fast device, and need none.
TEST(ColdBounds, ParametersThatAreReadInPlaceNeedNoRoom) {
  Operator op = faster_on_the_first("a", 10 * kMillion);
  op.in_place_by_device["gpu0"] = 2;
  const Graph graph("embedding", {op}, {});
  Schedule schedule =
      on_one_device(of_little_memory(), DeviceId(0), one_operator_stages({OpId(0)}));
  schedule.weights.emplace().in_place = {{OpId(0), StoreId(0)}};
  expect_bounded(graph, schedule, 2);
}

// Both are on one device, which has room for their 6 MB once.
TEST(ColdBounds, SharedParametersNeedRoomOnce) {
  std::vector<Operator> operators = {faster_on_the_first("a", 6 * kMillion),
                                     faster_on_the_first("b", 6 * kMillion)};
  for (Operator& op : operators) {
    op.parameters = "tied";
    op.colocate = "both";
  }
  const Graph graph("tied", std::move(operators), {});
  const Platform platform = of_little_memory();
  const Schedule resident =
      on_one_device(platform, DeviceId(0), one_operator_stages({OpId(0), OpId(1)}));
  expect_bounded(graph, with_loads(resident, graph, platform), 0.6 + 2);
}

/// Returns the graph, each of whose operators takes no less in place than otherwise; one in two
/// cannot be read so.
Graph with_slower_reads(const Graph& graph, Random& random) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) {
    op.in_place_by_device.clear();
    if (random.below(2) == 0) {
      op.in_place_ms.reset();
    } else {
      op.in_place_ms = *op.in_place_ms + op.time_ms;
    }
  }
  return Graph(graph.name(), std::move(operators), {graph.edges().begin(), graph.edges().end()},
               graph.stage_cost());
}

/// Returns the platform without the routes from its second store.
Platform with_one_store(const Platform& platform) {
  const Topology& topology = *platform.topology();
  std::vector<Route> routes(topology.routes().begin(), topology.routes().end());
  std::erase_if(routes, [](const Route& route) { return route.from == Holder(StoreId(1)); });
  return Platform({platform.devices().begin(), platform.devices().end()},
                  {topology.stores().begin(), topology.stores().end()},
                  {topology.buses().begin(), topology.buses().end()}, std::move(routes));
}

TEST(ColdBounds, AreNeverAboveTheOptimumOfAnySmallDag) {
  for (std::size_t n = 1; n <= 3; ++n) {
    for (std::uint64_t edges = 0; edges < (std::uint64_t{1} << (n * (n - 1) / 2)); ++edges) {
      for (std::size_t devices = 1; devices <= 2; ++devices) {
        const std::uint64_t seed = 100 * edges + 10 * n + devices;
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, "bounds");
        const bool whole = random.below(2) == 0;
        const test::CostStyle style{.overlap = false, .small_integers = whole};
        const Graph graph = with_slower_reads(
            test::with_parameters(test::dag(n, edges, style, random), whole, random), random);
        Platform platform = test::random_topology(devices, 1, whole, random);
        if (n == 3) platform = with_one_store(platform);
        if ((edges + devices) % 2 == 0) platform = test::with_slowdowns(platform, random);
        const CostModel costs = CostModel::from_graph(graph, platform);
        const double least_ms = test::cold_optimum_ms(graph, costs);
        for (const LowerBound& bound : cold_start_bounds(graph, costs)) {
          EXPECT_LE(bound.ms, least_ms * (1 + 1e-12)) << bound.name;
        }
      }
    }
  }
}

TEST(ColdBounds, AreNeverAboveRandomColdStarts) {
  std::size_t moved = 0, tight = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "schedules");
    test::ColdStyle style;
    style.whole_numbers = seed % 4 == 0;
    style.most_operators = 8;
    style.memory = static_cast<test::ColdMemory>(seed % 3);
    test::ColdCase cold = test::random_cold_case(style, random);
    if (seed % 2 == 0) cold.platform = test::with_slowdowns(cold.platform, random);
    Random changes(seed, "reads");
    Graph graph = with_slower_reads(cold.graph, changes);
    Schedule schedule = cold.schedule;
    // Operators that the schedule reads in place must have a time for it.
    std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
    for (const ReadInPlace& read : schedule.weights->in_place) {
      Operator& op = operators[read.of.index()];
      if (!op.in_place_ms) op.in_place_ms = 2 * op.time_ms;
    }
    graph = Graph(graph.name(), std::move(operators), {graph.edges().begin(), graph.edges().end()},
                  graph.stage_cost());
    const CostModel costs = CostModel::from_graph(graph, cold.platform);
    if (!validate(graph, cold.platform, schedule, Objective::kColdStart).empty()) continue;
    tight += style.memory == test::ColdMemory::kTight;
    const double ms = simulate(graph, schedule, costs).latency_ms;
    const LowerBound largest = cold_start_bound(graph, costs, {}, schedule.weights->resident);
    EXPECT_LE(largest.ms, ms + kRoundingOfBounds) << largest.name;  // transfers are flows
    for (const LowerBound& bound : cold_start_bounds(graph, costs, schedule.weights->resident)) {
      EXPECT_LE(bound.ms, ms * (1 + 1e-12)) << bound.name;
      moved += bound.ms > 0;
    }
  }
  EXPECT_GT(moved, 180u);
  EXPECT_GT(tight, 3u);
}

}  // namespace
}  // namespace hios::scheduler
