#include "scheduler/bounds/bounds.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "hios/graph/random/random_dag.h"
#include "scheduler/registry.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/slow_simulator.h"
#include "support/sanitized.h"

// bounds_oracle_test and oracle_test check that no bound exceeds the optimum. This file checks how
// large each bound is where it is the best, and that no schedule of larger graphs is below.

namespace hios::scheduler {
namespace {

double named(std::string_view name, const Graph& graph, const CostModel& costs) {
  for (const LowerBound& bound : all_bounds(graph, costs)) {
    if (bound.name == name) return bound.ms;
  }
  ADD_FAILURE() << "no bound is called " << name;
  return 0;
}

/// Expects that the bound of this name is `ms`, and that all others are smaller.
void expect_largest(std::string_view name, double ms, const Graph& graph,
                    const Platform& platform) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(lower_bound(graph, costs).name, name);
  for (const LowerBound& bound : all_bounds(graph, costs)) {
    if (bound.name == name) {
      EXPECT_NEAR(bound.ms, ms, 1e-9 * ms);
    } else {
      EXPECT_LT(bound.ms, ms * (1 - 1e-3)) << bound.name;
    }
  }
}

// Both middle operators on one device (3 + 4), or one transfer there and one back.
TEST(Bounds, CriticalPathSharesADeviceOrTransfers) {
  for (const auto& [transfer, latency] :
       {std::pair(0.0, 7.0), {0.5, 7.0}, {1.0, 8.0}, {9.0, 10.0}}) {
    const Graph graph = test::small_graph(
        {2, 3, 4, 1}, {{1, 2, transfer}, {1, 3, transfer}, {2, 4, transfer}, {3, 4, transfer}});
    const Platform platform = test::devices(2, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    EXPECT_EQ(named("critical_path", graph, costs), latency) << transfer;
    EXPECT_EQ(lower_bound(graph, costs).name, "critical_path");
  }
}

// v4 waits for three inputs: v1, which ends last, is on its device, and the others arrive at 5.
TEST(Bounds, CriticalPathWithoutForks) {
  const Graph graph =
      test::small_graph({3, 3, 3, 1, 1}, {{1, 4, 2}, {2, 4, 2}, {3, 4, 2}, {5, 1, 2}});
  const Platform platform = test::devices(4, 1);
  EXPECT_EQ(named("critical_path", graph, CostModel::from_graph(graph, platform)), 3 + 2 + 1);
}

// A stage may be shorter than its sum, but not than a path. v4 keeps the others from being
// comparable with all.
TEST(Bounds, CriticalPathIsNotShortenedByStreams) {
  const StageCostRule rule{StageCostRule::Kind::kOverlap, 0.5};
  const Graph graph = test::small_graph({3, 3, 3, 1}, {{1, 2, 20}, {2, 3, 20}}, rule);
  expect_largest("critical_path", 9, graph, test::devices(4, 2));
}

TEST(Bounds, CriticalPathHasTransfersIfNoDeviceCanRunBoth) {
  Operator a, b;
  a.name = "a";
  b.name = "b";
  a.has_time = b.has_time = true;
  a.time_ms = b.time_ms = 2;
  a.allowed = {"gpu0"};
  b.allowed = {"gpu1"};
  const Graph graph("apart", {a, b}, {Edge{OpId(0), OpId(1), 0, 5.0}});
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(named("critical_path", graph, costs), 2 + 5 + 2);
}

TEST(Bounds, WorkIsSharedByDevices) {
  const Graph graph = test::small_graph({2, 2, 2, 2}, {});
  for (std::size_t devices : {1, 2, 3}) {
    const Platform platform = test::devices(devices, 8);
    const LowerBound bound = lower_bound(graph, CostModel::from_graph(graph, platform));
    EXPECT_DOUBLE_EQ(bound.ms, 8.0 / static_cast<double>(devices));
    EXPECT_EQ(bound.name, "work");
  }
}

TEST(Bounds, OverlapShrinksWorkOnlyWhereThereAreStreams) {
  const StageCostRule rule{StageCostRule::Kind::kOverlap, 0.5};
  const Graph graph = test::small_graph({2, 2, 2, 2}, {}, rule);  // utilization 0.5
  const Platform one_stream = test::devices(1, 1);
  EXPECT_DOUBLE_EQ(named("work", graph, CostModel::from_graph(graph, one_stream)), 8);
  const Platform two_streams = test::devices(1, 2);
  EXPECT_DOUBLE_EQ(named("work", graph, CostModel::from_graph(graph, two_streams)), 6);
}

TEST(Bounds, EachOperatorCountsOnItsFastestDevice) {
  Operator op;
  op.name = "a";
  op.time_by_device = {{"gpu0", 5}, {"gpu1", 3}};
  const Graph graph("one", {op}, {});
  const Platform platform = test::devices(2, 1);
  EXPECT_EQ(named("critical_path", graph, CostModel::from_graph(graph, platform)), 3);
}

// One device is three times as fast: of four equal operators it should take three.
TEST(Bounds, WorkWeighsDevicesBySpeed) {
  std::vector<Operator> operators(4);
  for (std::size_t i = 0; i < 4; ++i) {
    operators[i].name = std::string("v").append(std::to_string(i));
    operators[i].time_by_device = {{"gpu0", 1}, {"gpu1", 3}};
  }
  const Graph graph("two kinds", operators, {});
  const Platform platform = test::devices(2, 1);
  const double work = named("work", graph, CostModel::from_graph(graph, platform));
  EXPECT_LE(work, 3);
  EXPECT_GT(work, 2.9) << "shared evenly at the faster device's times: 2";
}

// Only v1 and v2 can run until 4; then 12 ms of work remain for three devices.
TEST(Bounds, IntervalsCountOperatorsThatCanStart) {
  const Graph graph = test::small_graph(
      {4, 4, 2, 2, 2, 2, 2, 2}, {{1, 3, 0}, {1, 4, 0}, {1, 5, 0}, {2, 6, 0}, {2, 7, 0}, {2, 8, 0}});
  expect_largest("intervals", 4 + 12 / 3.0, graph, test::devices(3, 1));
}

// No edge connects all four, but each edge is too expensive to cut.
TEST(Bounds, TogetherConnectsEdgesThatCannotBeCut) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {{1, 3, 9}, {2, 3, 9}, {2, 4, 9}});
  expect_largest("together", 4, graph, test::devices(2, 1));
}

// The same graph twice, with v5 in between, whose edges are free.
TEST(Bounds, SeparatorsAddUpTheBestBoundsBetweenThem) {
  const Graph graph = test::small_graph({1, 1, 1, 1, 1, 1, 1, 1, 1}, {{1, 3, 9},
                                                                      {2, 3, 9},
                                                                      {2, 4, 9},
                                                                      {3, 5, 0},
                                                                      {4, 5, 0},
                                                                      {5, 6, 0},
                                                                      {5, 7, 0},
                                                                      {6, 8, 9},
                                                                      {7, 8, 9},
                                                                      {7, 9, 9}});
  expect_largest("separators", 4 + 1 + 4, graph, test::devices(2, 1));
}

// The fast device has memory for one of four operators; the slow one needs 12 for the others.
TEST(Bounds, MemorySendsWorkToSlowerDevices) {
  std::vector<Operator> operators(4);
  for (std::size_t i = 0; i < 4; ++i) {
    operators[i].name = std::string("v").append(std::to_string(i));
    operators[i].time_by_device = {{"gpu0", 1}, {"gpu1", 4}};
    operators[i].memory_bytes = 1000;
  }
  const Graph graph("memory", operators, {});
  const Platform platform({{"gpu0", "gpu", 0, 1, 1500, ""}, {"gpu1", "gpu", 0, 1, 0, ""}});
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(lower_bound(graph, costs).name, "placement");
  EXPECT_LE(named("placement", graph, costs), 12);
  EXPECT_GT(named("placement", graph, costs), 11.9) << "operators are not divided";
  EXPECT_LE(named("memory", graph, costs), 12);
  EXPECT_GT(named("memory", graph, costs), 9);
  EXPECT_LT(named("work", graph, costs), 4);
}

// Four operators of 1 ms, and of 4 ms on the second device. It processes a quarter of the first
// device's work, and nothing if all take less than 4 ms together.
TEST(Bounds, ASlowDeviceDoesNotCountInFull) {
  std::vector<Operator> operators(4);
  for (std::size_t i = 0; i < 4; ++i) {
    operators[i].name = std::string("v").append(std::to_string(i));
    operators[i].time_by_device = {{"gpu0", 1}, {"gpu1", 4}};
  }
  const Graph graph("slow", operators, {});
  const Platform platform({{"gpu0", "gpu", 0, 1, 0, ""}, {"gpu1", "gpu", 0, 1, 0, ""}});
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_DOUBLE_EQ(named("intervals", graph, costs), 4 / 1.25);
  EXPECT_GT(named("destructive", graph, costs), 3.9);
  EXPECT_LE(named("destructive", graph, costs), 4);
}

// Two operators of 1000 bytes on devices of 1500: the edge must be cut.
TEST(Bounds, MemorySeparatesOperatorsThatWouldShareADevice) {
  Graph graph = test::small_graph({2, 3}, {{1, 2, 4}});
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) op.memory_bytes = 1000;
  graph = Graph("pair", operators, {graph.edges().begin(), graph.edges().end()});
  const Platform small({{"gpu0", "gpu", 0, 1, 1500, ""}, {"gpu1", "gpu", 0, 1, 1500, ""}});
  EXPECT_EQ(named("together", graph, CostModel::from_graph(graph, small)), 2 + 4 + 3);
  const Platform large({{"gpu0", "gpu", 0, 1, 2000, ""}, {"gpu1", "gpu", 0, 1, 2000, ""}});
  EXPECT_EQ(named("together", graph, CostModel::from_graph(graph, large)), 2 + 3);
}

// a and b are measured together at 3 instead of 2 + 4: at best, a path loses a quarter of its time
// in such stages, and work a half.
TEST(Bounds, MeasuredStagesLowerTheShares) {
  Operator a, b;
  a.name = a.signature = "a";
  b.name = b.signature = "b";
  const Graph graph("pair", {a, b}, {});
  Profile profile;
  Configuration configuration;
  configuration.kind = "gpu";
  configuration.threads = 0;
  configuration.operators["a"].ms = 2;
  configuration.operators["b"].ms = 4;
  configuration.stages[{{"a"}, {"b"}}].ms = 3;
  profile.configurations.push_back(configuration);
  const Platform platform = test::devices(1, 2);
  const CostModel costs = CostModel::from_profile(graph, platform, profile);
  EXPECT_DOUBLE_EQ(named("critical_path", graph, costs), 4 * 3.0 / 4);
  EXPECT_DOUBLE_EQ(named("work", graph, costs), (2 + 4) * 3.0 / 6);
  const Platform serial = test::devices(1, 1);
  const CostModel serial_costs = CostModel::from_profile(graph, serial, profile);
  EXPECT_DOUBLE_EQ(named("work", graph, serial_costs), 6);
}

TEST(Bounds, AGraphWithoutOperators) {
  const Graph graph("empty", {}, {});
  const Platform platform = test::devices(2, 1);
  const LowerBound bound = lower_bound(graph, CostModel::from_graph(graph, platform));
  EXPECT_EQ(bound.ms, 0);
  EXPECT_EQ(bound.name, "critical_path");
}

void expect_below(const std::vector<LowerBound>& bounds, double latency_ms) {
  constexpr double kSumRounding = 1e-12;
  for (const LowerBound& bound : bounds) {
    EXPECT_LE(bound.ms, latency_ms * (1 + kSumRounding)) << bound.name;
  }
}

TEST(Bounds, NoScheduleOfLargerGraphsIsBelow) {
  for (std::uint64_t seed = 0; seed < test::tries(300u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "bounds");
    test::CostStyle style;
    style.small_integers = seed % 7 == 0;
    const std::size_t n = 10 + random.below(70);
    const double density = random.uniform(0.5, 4) / static_cast<double>(n);
    const Graph graph = test::random_graph(n, density, style, random);
    const Platform platform = test::devices(1 + seed % 5, 1 + static_cast<int>(seed % 4));
    const CostModel costs = CostModel::from_graph(graph, platform);
    const auto bounds = all_bounds(graph, costs);
    for (int i = 0; i < 5; ++i) {
      const Schedule schedule = test::random_schedule(graph, platform, random);
      expect_below(bounds,
                   *test::slow_latency_ms(graph, schedule, test::plain_costs_of(graph, platform)));
    }
    for (const char* name : {"sequential", "inter-lp", "hios-lp", "hios-mr"}) {
      const Algorithm& algorithm = built_in().find(name);
      const auto result = algorithm.run(Problem(costs), Options(algorithm.options), {});
      expect_below(bounds, result.latency_ms);
    }
  }
}

// With few devices, the work is the limit; with many, the layers, which follow each other.
TEST(Bounds, LargeGraphs) {
  RandomDag parameters;
  parameters.operators = test::tries(50'000u);
  parameters.edges = test::tries(100'000u);
  parameters.layers = 500;
  const Graph graph = random_dag(parameters);
  double work = 0;
  for (const Operator& op : graph.operators()) work += op.time_ms * (0.5 + 0.5 * op.utilization);
  const Platform four = test::devices(4, 8);
  const LowerBound busy = lower_bound(graph, CostModel::from_graph(graph, four));
  EXPECT_GE(busy.ms, work / 4 * (1 - 1e-9));
  const Platform many = test::devices(200, 8);
  const LowerBound paths = lower_bound(graph, CostModel::from_graph(graph, many));
  EXPECT_GT(paths.ms, 500 * 0.1);
  EXPECT_GT(paths.ms, work / 200);
}

TEST(Bounds, StopsSoonWithTheBoundsReached) {
  RandomDag parameters;
  parameters.operators = 600;
  parameters.edges = 1200;
  const Graph graph = random_dag(parameters);
  const Platform platform = test::devices(3, 2);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const std::vector<LowerBound> whole = all_bounds(graph, costs);
  int needed = 0;
  all_bounds(graph, costs, Deadline([&] { return ++needed < 0; }));
  ASSERT_GT(needed, 30) << "the long bounds ask, too";
  double before = 0;
  for (int calls = 0; calls <= needed; calls += 1 + needed / 40) {
    SCOPED_TRACE("calls " + std::to_string(calls));
    int asked = 0;
    const auto cut = all_bounds(graph, costs, Deadline([&] { return ++asked > calls; }));
    EXPECT_LT(asked, calls + 25) << "asked too often after it expired";
    ASSERT_EQ(cut.size(), whole.size());
    double largest = 0;
    for (std::size_t i = 0; i < cut.size(); ++i) {
      EXPECT_EQ(cut[i].name, whole[i].name);
      EXPECT_LE(cut[i].ms, whole[i].ms);
      EXPECT_GE(cut[i].ms, 0);
      largest = std::max(largest, cut[i].ms);
    }
    EXPECT_GE(largest, before) << "more time gave a smaller bound";
    before = largest;
  }
  EXPECT_GT(before, 0);
}

}  // namespace
}  // namespace hios::scheduler
