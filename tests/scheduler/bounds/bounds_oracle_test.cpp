#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/bounds/bounds.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/slow_simulator.h"

// Compares every bound by its name with brute force, for restricted placement, expensive transfers,
// different devices and arbitrary stage costs. oracle_test does the same on every small graph.

namespace hios::scheduler {
namespace {

using test::CostStyle;
using test::kOracleRounding;

/// How often each bound alone was the largest, so that a bound that is always small does not pass.
using Wins = std::map<std::string, int>;

void check_bounds(const Graph& graph, const Platform& platform, const CostModel& costs,
                  const test::PlainCosts& plain_costs, Wins& wins) {
  const double best = test::brute_force(graph, platform, plain_costs).latency_ms;
  std::vector<LowerBound> bounds = all_bounds(graph, costs);
  for (const LowerBound& bound : bounds) {
    EXPECT_LE(bound.ms, best * (1 + kOracleRounding)) << bound.name;
    EXPECT_GE(bound.ms, 0) << bound.name;
  }
  std::sort(bounds.begin(), bounds.end(),
            [](const LowerBound& a, const LowerBound& b) { return a.ms > b.ms; });
  if (bounds[0].ms > bounds[1].ms * (1 + 1e-6)) ++wins[bounds[0].name];
  if (best < std::numeric_limits<double>::infinity()) ++wins["feasible"];
  if (bounds[0].ms >= best * (1 - kOracleRounding)) ++wins["tight"];
}

/// Adds labels, lists of allowed devices and memory to some operators.
Graph restricted(const Graph& graph, const Platform& platform, Random& random) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) {
    op.memory_bytes = random.below(5);
    op.parameter_bytes = random.below(3);
    if (random.below(4) == 0) op.colocate = random.below(2) == 0 ? "one" : "two";
    if (random.below(3) != 0 || !op.time_by_device.empty()) continue;
    for (const Device& device : platform.devices()) {
      if (random.below(2) == 0) op.allowed.push_back(device.name);
    }
  }
  return Graph(graph.name(), operators, {graph.edges().begin(), graph.edges().end()},
               graph.stage_cost());
}

/// Returns the graph with its transfers multiplied by `factor`.
Graph with_transfers(const Graph& graph, double factor) {
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  for (Edge& edge : edges) edge.transfer_ms = *edge.transfer_ms * factor;
  return Graph(graph.name(), {graph.operators().begin(), graph.operators().end()}, edges,
               graph.stage_cost());
}

Platform some_devices(std::size_t count, bool limited, Random& random) {
  std::vector<Device> devices;
  for (std::size_t d = 0; d < count; ++d) {
    Device device{
        "gpu" + std::to_string(d), "gpu", 0, 1 + static_cast<int>(random.below(3)), 0, ""};
    if (limited && random.below(3) != 0) device.memory_bytes = 8 + random.below(20);
    devices.push_back(device);
  }
  return Platform(devices);
}

CostStyle bound_style(std::uint64_t number) {
  CostStyle style;
  style.overlap = number % 3 != 0;
  style.small_integers = number % 5 == 0;
  style.by_device = number % 2 == 0;
  return style;
}

TEST(BoundsOracle, RestrictedPlacement) {
  Wins wins;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "restricted");
    const std::size_t n = 4 + seed % 2;
    const Platform platform = some_devices(2 + seed % 2, seed % 4 != 0, random);
    Graph graph = test::dag(n, random.below(std::uint64_t{1} << (n * (n - 1) / 2)),
                            bound_style(seed), random);
    graph = restricted(with_transfers(graph, random.uniform(0.5, 3)), platform, random);
    check_bounds(graph, platform, CostModel::from_graph(graph, platform),
                 test::plain_costs_of(graph, platform), wins);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(wins["feasible"], 300);
  EXPECT_GT(wins["tight"], 100);
  for (const char* name : {"critical_path", "placement", "together", "destructive"}) {
    EXPECT_GT(wins[name], 0) << name;
  }
}

TEST(BoundsOracle, ExpensiveTransfersOnEqualDevices) {
  Wins wins;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "expensive");
    CostStyle style = bound_style(seed);
    style.by_device = false;
    Graph graph = test::dag(6, random.below(1 << 15) & random.below(1 << 15), style, random);
    graph = with_transfers(graph, random.uniform(0.2, 3));
    const Platform platform = test::devices(2 + seed % 2, 1 + static_cast<int>(seed % 3));
    check_bounds(graph, platform, CostModel::from_graph(graph, platform),
                 test::plain_costs_of(graph, platform), wins);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(wins["tight"], 100);
  for (const char* name : {"critical_path", "work", "together", "destructive"}) {
    EXPECT_GT(wins[name], 0) << name;
  }
}

TEST(BoundsOracle, MeasuredStages) {
  Wins wins;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "measured bounds");
    Graph graph = test::dag(5, random.below(1 << 10), {}, random);
    const Platform platform = some_devices(2, seed % 2 == 0, random);
    Profile profile = test::random_profile(graph, platform, random);
    if (seed % 3 == 0) profile = test::with_shared_memory(std::move(profile), random);
    graph = restricted(graph, platform, random);
    const CostModel costs = CostModel::from_profile(graph, platform, profile);
    check_bounds(graph, platform, costs, test::plain_costs_of(costs), wins);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(wins["feasible"], 100);
}

/// Returns devices with links for some pairs in one direction, and a default link for the others.
Platform linked_devices(std::size_t count, Random& random) {
  const Platform plain = some_devices(count, false, random);
  std::vector<std::tuple<DeviceId, DeviceId, Link>> links;
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      if (from == to || random.below(2) == 0) continue;
      links.push_back({DeviceId(from), DeviceId(to), Link{random.uniform(0, 1), 1e-3}});
    }
  }
  return Platform({plain.devices().begin(), plain.devices().end()}, links,
                  Link{random.uniform(0, 2), 2e-3});
}

/// Returns the graph with an extreme overlap rule (weight 0 or 1, sometimes between), some
/// operators that hardly use a device, and edges whose cost depends on the links.
Graph extreme(const Graph& graph, bool links, Random& random) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) {
    if (random.below(2) == 0) op.utilization = random.uniform(1e-9, 1e-3);
  }
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  for (Edge& edge : edges) {
    edge.size_bytes = random.below(3000);
    if (links && random.below(3) != 0) edge.transfer_ms.reset();
  }
  const double weights[] = {0, 1, 0, 1, random.uniform()};
  return Graph(graph.name(), operators, edges,
               {StageCostRule::Kind::kOverlap, weights[random.below(5)]});
}

TEST(BoundsOracle, ExtremeStageCostsWithLinksAndRestrictedDevices) {
  Wins wins;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "extreme");
    const bool links = seed % 2 == 0;
    const std::size_t n = 4 + seed % 2, count = 2 + random.below(2);
    const Platform platform =
        links ? linked_devices(count, random) : some_devices(count, false, random);
    CostStyle style = bound_style(seed / 2);
    Graph graph = test::dag(n, random.below(std::uint64_t{1} << (n * (n - 1) / 2)), style, random);
    graph = restricted(extreme(graph, links, random), platform, random);
    const CostModel costs = CostModel::from_graph(graph, platform);
    check_bounds(graph, platform, costs,
                 links ? test::plain_costs_of(costs) : test::plain_costs_of(graph, platform), wins);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(wins["feasible"], 200);
  EXPECT_GT(wins["tight"], 100);
}

TEST(BoundsOracle, OperatorsThatCannotRunCostInfinity) {
  std::vector<Operator> operators(2);
  for (std::size_t i = 0; i < 2; ++i) {
    operators[i].name = i == 0 ? "a" : "b";
    operators[i].has_time = true;
    operators[i].time_ms = 1;
  }
  operators[1].allowed = {"gpu1"};
  const Platform platform = test::devices(2, 2);
  for (const double weight : {0.0, 1.0}) {
    const Graph graph("ends", operators, {}, {StageCostRule::Kind::kOverlap, weight});
    const CostModel costs = CostModel::from_graph(graph, platform);
    const Stage both{{{OpId(0)}, {OpId(1)}}};
    for (const test::PlainCosts& plain_costs :
         {test::plain_costs_of(graph, platform), test::plain_costs_of(costs)}) {
      EXPECT_EQ(plain_costs.stage_ms(both, DeviceId(0)), std::numeric_limits<double>::infinity());
      EXPECT_LE(plain_costs.stage_ms(both, DeviceId(1)), 2);
    }
  }
}

}  // namespace
}  // namespace hios::scheduler
