#include <set>
#include <string>

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/coarsen.h"
#include "hios/model/networks/networks.h"
#include "scheduler/algorithms/scheduler.h"
#include "support/dag_generator.h"
#include "support/expect_error.h"
#include "support/slow_simulator.h"
#include "support/small_graph.h"

namespace hios::scheduler {
namespace {

ScheduleResult run(std::string_view name, const Graph& graph, const Platform& platform,
                   const Context& context = {}) {
  const Algorithm& algorithm = find(name);
  const CostModel costs = CostModel::from_graph(graph, platform);
  Options options(algorithm.options);
  if (options.has("iterations")) options.set("iterations=1000");
  return algorithm.run(graph, costs, platform, options, context);
}

/// The graph with one operator changed.
template <class Change>
Graph changed(const Graph& graph, std::size_t index, Change change) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  change(operators[index]);
  return Graph(graph.name(), operators, {graph.edges().begin(), graph.edges().end()},
               graph.stage_cost());
}

TEST(Registry, ListsTheAlgorithms) {
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : all()) names.push_back(algorithm.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"sequential", "ios", "inter-lp", "hios-lp",
                                                  "inter-mr", "hios-mr", "best"}));
  EXPECT_EQ(find("ios").name, "ios");
  EXPECT_EQ(find("ios").constraints, kWantsOneDevice);
  EXPECT_EQ(find("hios-mr").constraints, kKeepsConstraints);
  test::expect_error([] { find("best-of-all"); }, {"best-of-all", "hios-lp", "sequential"});
}

TEST(Registry, DefaultsAreThePapers) {
  EXPECT_EQ(Options(find("hios-lp").options).integer("window"), 4);
  EXPECT_FALSE(Options(find("hios-lp").options).boolean("insertion"));
  EXPECT_EQ(Options(find("hios-mr").options).integer("window"), 4);
  EXPECT_EQ(Options(find("ios").options).integer("max_group"), 3);
  EXPECT_EQ(Options(find("ios").options).integer("max_groups"), 8);
}

TEST(Registry, LargerRandomGraphsOnSeveralDevices) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed, "larger");
    test::CostStyle style;
    style.small_integers = seed % 4 == 0;
    style.by_device = seed % 5 == 0;
    const Graph graph = test::random_graph(60, 0.05, style, random);
    const Platform platform = test::devices(1 + seed % 4, 1 + static_cast<int>(seed % 6));
    const CostModel costs = CostModel::from_graph(graph, platform);
    const test::Prices prices = test::prices_of(graph, platform);
    for (const Algorithm& algorithm : all()) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(algorithm.name));
      Options options(algorithm.options);
      if (options.has("max_endings")) options.set("max_endings=3000");
      if (options.has("iterations")) options.set("iterations=3000");
      const ScheduleResult result = algorithm.run(graph, costs, platform, options, {});
      EXPECT_TRUE(validate(graph, platform, result.schedule).empty());
      EXPECT_TRUE(test::runs_to_its_end(graph, result.schedule));
      EXPECT_DOUBLE_EQ(result.latency_ms, *test::slow_latency_ms(graph, result.schedule, prices));
      EXPECT_LE(result.lower_bound_ms, result.latency_ms);
      EXPECT_FALSE(result.bound.empty());
      const ScheduleResult again = algorithm.run(graph, costs, platform, options, {});
      EXPECT_EQ(again.schedule, result.schedule) << "the same arguments give the same schedule";
    }
  }
}

TEST(Registry, TheFourNetworks) {
  for (const models::Entry& entry : models::all()) {
    const CoarseGraph coarse = coarsen(entry.build(1, entry.default_size, entry.default_size));
    std::vector<Operator> operators(coarse.graph.operators().begin(),
                                    coarse.graph.operators().end());
    std::vector<Edge> edges(coarse.graph.edges().begin(), coarse.graph.edges().end());
    Random random(11, entry.name);
    for (Operator& op : operators) {
      op.has_time = true;
      op.time_ms = random.uniform(0.1, 4);
      op.utilization = random.uniform(0.3, 1);
    }
    for (Edge& edge : edges) edge.transfer_ms = random.uniform(0, 1);
    const Graph graph(coarse.graph.name(), operators, edges, {StageCostRule::Kind::kOverlap, 0.5});
    const Platform platform = test::devices(2, 2);
    for (const Algorithm& algorithm : all()) {
      SCOPED_TRACE(std::string(entry.name) + ", " + std::string(algorithm.name));
      const ScheduleResult result = run(algorithm.name, graph, platform);
      EXPECT_TRUE(validate(graph, platform, result.schedule).empty());
      if (algorithm.name == "ios") {
        const bool whole = entry.name != "nasnet_large";  // whose cells all overlap
        EXPECT_EQ(result.outcome, whole ? Outcome::kOptimal : Outcome::kFeasible);
      }
    }
  }
}

TEST(Registry, ComposedAlgorithmsAreNoWorseThanTheirFirstHalf) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "composed");
    const Graph graph = test::random_graph(40, 0.08, {}, random);
    const Platform platform = test::devices(2, 3);
    EXPECT_LE(run("hios-lp", graph, platform).latency_ms,
              run("inter-lp", graph, platform).latency_ms);
    EXPECT_LE(run("hios-mr", graph, platform).latency_ms,
              run("inter-mr", graph, platform).latency_ms);
  }
}

TEST(Registry, OutOfTimeIsSaidAndStaysValid) {
  Random random(4, "late");
  const Graph graph = test::random_graph(50, 0.06, {}, random);
  const Platform platform = test::devices(2, 3);
  Context late;
  late.out_of_time = [] { return true; };
  for (std::string_view name : {"ios", "inter-lp", "hios-lp", "inter-mr", "hios-mr", "best"}) {
    SCOPED_TRACE(name);
    const ScheduleResult result = run(name, graph, platform, late);
    EXPECT_EQ(result.outcome, Outcome::kTimeLimit);
    EXPECT_TRUE(validate(graph, platform, result.schedule).empty());
  }
}

TEST(Registry, AGivenBoundIsNotComputedAgain) {
  const Graph graph = test::small_graph({1, 2}, {{1, 2, 1}});
  Context context;
  context.bound = LowerBound{0.5, "given"};
  for (const Algorithm& algorithm : all()) {
    SCOPED_TRACE(algorithm.name);
    const ScheduleResult result = run(algorithm.name, graph, test::devices(2, 2), context);
    EXPECT_EQ(result.lower_bound_ms, 0.5);
    EXPECT_EQ(result.bound, "given");
  }
}

TEST(Registry, EmptyGraph) {
  const Graph graph("empty", {}, {});
  for (const Algorithm& algorithm : all()) {
    SCOPED_TRACE(algorithm.name);
    const ScheduleResult result = run(algorithm.name, graph, test::devices(2, 2));
    EXPECT_EQ(result.latency_ms, 0);
    EXPECT_EQ(result.schedule.devices.size(), 2u);
  }
}

TEST(Registry, OneDeviceAlgorithmsTakeTheFirstThatCanRunAll) {
  const Graph graph = changed(test::small_graph({1, 2}, {{1, 2, 1}}), 1,
                              [](Operator& op) { op.allowed = {"gpu1"}; });
  for (std::string_view name : {"sequential", "ios"}) {
    const ScheduleResult result = run(name, graph, test::devices(3, 2));
    EXPECT_TRUE(result.schedule.devices[0].empty());
    EXPECT_EQ(result.schedule.devices[1].size(), 2u);
  }
  const Graph torn = changed(graph, 0, [](Operator& op) { op.allowed = {"gpu0"}; });
  test::expect_error([&] { run("sequential", torn, test::devices(2, 2)); },
                     {"sequential", "gpu0", "v2"});
}

TEST(Registry, HonoursLabelsAndMemory) {
  const Graph plain = test::small_graph({1, 2, 3}, {{1, 2, 1}});
  Graph labelled = changed(plain, 0, [](Operator& op) { op.colocate = "pair"; });
  labelled = changed(labelled, 2, [](Operator& op) { op.colocate = "pair"; });
  const Graph heavy = changed(plain, 1, [](Operator& op) { op.parameter_bytes = 100; });
  const Platform small({{"gpu0", "gpu", 0, 2, 99, ""}, {"gpu1", "gpu", 0, 2, 0, ""}});
  for (const Algorithm& algorithm : all()) {
    SCOPED_TRACE(algorithm.name);
    const Platform two = test::devices(2, 2);
    EXPECT_TRUE(validate(labelled, two, run(algorithm.name, labelled, two).schedule).empty());
    EXPECT_TRUE(validate(heavy, small, run(algorithm.name, heavy, small).schedule).empty());
  }
}

TEST(Registry, RefusesByNameWhatNoDeviceCanTake) {
  const Graph plain = test::small_graph({1, 2, 3}, {{1, 2, 1}});
  const Graph heavy = changed(plain, 1, [](Operator& op) { op.parameter_bytes = 100; });
  const Platform small({{"gpu0", "gpu", 0, 2, 99, ""}, {"gpu1", "gpu", 0, 2, 99, ""}});
  Graph torn = plain;
  for (std::size_t i : {0, 2}) {
    torn = changed(torn, i, [i](Operator& op) {
      op.colocate = "pair";
      op.allowed = {i == 0 ? "gpu0" : "gpu1"};
    });
  }
  for (std::string_view name : {"inter-lp", "hios-lp", "inter-mr", "hios-mr"}) {
    SCOPED_TRACE(name);
    test::expect_error([&] { run(name, heavy, small); }, {name, "v2", "100 bytes"});
    test::expect_error([&] { run(name, torn, small); }, {name, "v1", "pair"});
  }
  for (std::string_view name : {"sequential", "ios"}) {
    test::expect_error([&] { run(name, heavy, small); }, {name, "v2"});
  }
}

}  // namespace
}  // namespace hios::scheduler
