// Cold starts of small random networks: no algorithm is better than brute force, and no bound is
// above it.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/parameters.h"
#include "scheduler/cold/cold_start.h"
#include "scheduler/cold/cold_start_bound.h"
#include "scheduler/registry.h"
#include "support/graphs/dag_generator.h"

namespace hios::scheduler {
namespace {

constexpr std::size_t kDevices = 2;
constexpr double kRoundingOfFlows = 1e-7;

/// Returns a small random graph with parameters, of which some are shared.
Graph with_parameters(std::size_t n, Random& random) {
  const Graph bare = test::random_graph(n, 0.5, {.overlap = false}, random);
  std::vector<Operator> operators(bare.operators().begin(), bare.operators().end());
  std::vector<Edge> edges(bare.edges().begin(), bare.edges().end());
  const Bytes shared = 1'000'000 * (1 + random.below(4));
  for (Operator& op : operators) {
    op.parameter_bytes = 1'000'000 * random.below(5);
    if (random.below(4) == 0) {
      op.parameters = "tied";
      op.parameter_bytes = shared;
    }
  }
  return Graph("random", std::move(operators), std::move(edges), bare.stage_cost());
}

/// Returns two devices that share a bus from memory, or have one each.
Platform two_devices(Random& random) {
  std::vector<Device> devices(kDevices);
  for (std::size_t d = 0; d < kDevices; ++d) devices[d].name = "gpu" + std::to_string(d);
  for (Device& device : devices) device.kind = "gpu";
  const double gb_per_s = 0.5 + static_cast<double>(random.below(4));
  const BusId second(random.below(2));
  return Platform(std::move(devices), {{"dram", "", StoreKind::kMemory}},
                  {{"pcie0", gb_per_s}, {"pcie1", 1}, {"nvlink", 2}},
                  {{StoreId(0), DeviceId(0), {BusId(0)}, 0.1, 100},
                   {StoreId(0), DeviceId(1), {second}, 0, 2},
                   {DeviceId(0), DeviceId(1), {BusId(2)}, 0, 100},
                   {DeviceId(1), DeviceId(0), {BusId(2)}, 0.1, 100}});
}

/// The shortest cold start in which every stage is one operator and every device has one lane, or
/// all have one together, by all assignments, orders, and orders of loads.
class BruteForce {
 public:
  BruteForce(const Graph& graph, const CostModel& costs)
      : graph_(graph), costs_(costs), parameters_(graph) {}

  double least_ms() {
    assign(0, {});
    return least_ms_;
  }

 private:
  void assign(std::size_t v, std::vector<DeviceId> of) {
    if (v < graph_.size()) {
      for (std::size_t d = 0; d < kDevices; ++d) {
        of.resize(v);
        of.push_back(DeviceId(d));
        assign(v + 1, of);
      }
      return;
    }
    std::vector<OpId> order(graph_.topological().begin(), graph_.topological().end());
    std::sort(order.begin(), order.end());
    do {
      if (is_topological(order)) order_loads(order, of);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  bool is_topological(const std::vector<OpId>& order) const {
    std::vector<std::size_t> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i].index()] = i;
    return std::ranges::all_of(graph_.edges(), [&](const Edge& edge) {
      return position[edge.from.index()] < position[edge.to.index()];
    });
  }

  void order_loads(const std::vector<OpId>& order, const std::vector<DeviceId>& of) {
    Schedule schedule;
    schedule.devices.resize(kDevices);
    std::vector<std::vector<OpId>> loads(kDevices);  // the first operator of each set
    for (std::size_t d = 0; d < kDevices; ++d) {
      std::vector<OpId> own;
      std::vector<std::size_t> sets;
      for (const OpId op : order) {
        if (of[op.index()] != DeviceId(d)) continue;
        own.push_back(op);
        const auto set = parameters_.of(op);
        if (!set || std::ranges::find(sets, *set) != sets.end()) continue;
        sets.push_back(*set);
        loads[d].push_back(op);
      }
      schedule.devices[d] = one_operator_stages(own);
      std::sort(loads[d].begin(), loads[d].end());
    }
    try_loads(schedule, loads);
  }

  void try_loads(const Schedule& schedule, std::vector<std::vector<OpId>> loads) {
    do {
      do {
        Schedule cold = schedule;
        cold.weights.emplace();
        for (std::size_t d = 0; d < kDevices; ++d) {
          Lane lane;
          for (const OpId op : loads[d]) lane.push_back({op, StoreId(0), DeviceId(d)});
          if (!lane.empty()) cold.weights->lanes.push_back(std::move(lane));
        }
        least_ms_ = std::min(least_ms_, simulate(graph_, cold, costs_).latency_ms);
      } while (std::next_permutation(loads[1].begin(), loads[1].end()));
    } while (std::next_permutation(loads[0].begin(), loads[0].end()));
    try_shared_lane(schedule, loads);
  }

  /// Tries all orders of loads in one lane of all devices.
  void try_shared_lane(const Schedule& schedule, const std::vector<std::vector<OpId>>& loads) {
    Lane all;
    for (std::size_t d = 0; d < kDevices; ++d) {
      for (const OpId op : loads[d]) all.push_back({op, StoreId(0), DeviceId(d)});
    }
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      Schedule cold = schedule;
      Lane& lane = cold.weights.emplace().lanes.emplace_back();
      for (const std::size_t load : order) lane.push_back(all[load]);
      if (lane.empty()) cold.weights->lanes.clear();
      least_ms_ = std::min(least_ms_, simulate(graph_, cold, costs_).latency_ms);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  const Graph& graph_;
  const CostModel& costs_;
  const ParameterSets parameters_;
  double least_ms_ = std::numeric_limits<double>::infinity();
};

TEST(ColdOracle, NoAlgorithmIsBetterThanBruteForceAndNoBoundAboveIt) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::size_t operators = seed % 8 == 7 ? 4 : 1 + random.below(3);
    const Graph graph = with_parameters(operators, random);
    const Platform platform = two_devices(random);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const double least_ms = BruteForce(graph, costs).least_ms();
    const double slack_ms = kRoundingOfFlows * (1 + least_ms);
    const LowerBound resident_bound = lower_bound(graph, costs);
    const LowerBound bound = cold_start_bound(graph, costs);
    EXPECT_LE(bound.ms, least_ms + slack_ms) << bound.name;

    const Problem problem(costs, Objective::kColdStart);
    for (const Algorithm& algorithm : built_in().all()) {
      if (algorithm.objective == Objective::kThroughput || algorithm.exact) continue;
      SCOPED_TRACE(algorithm.name);
      Context context;
      context.seed = seed;
      context.bound = bound;
      Options options(algorithm.options);
      if (options.has("iterations")) options.set("iterations=300");
      const ScheduleResult result =
          schedule_cold_start(algorithm, problem, options, context, resident_bound);
      EXPECT_TRUE(validate(graph, platform, result.schedule, Objective::kColdStart).empty());
      // Those that pass parameters on use lanes that brute force does not try.
      const bool one_lane = algorithm.name == "load-then-run" || algorithm.name == "pipelined";
      const bool more_lanes =
          algorithm.improves || (algorithm.objective == Objective::kColdStart && !one_lane);
      EXPECT_GE(result.latency_ms, (more_lanes ? bound.ms : least_ms) - slack_ms);
      EXPECT_NEAR(result.latency_ms, simulate(graph, result.schedule, costs).latency_ms, slack_ms);
    }
  }
}

}  // namespace
}  // namespace hios::scheduler
