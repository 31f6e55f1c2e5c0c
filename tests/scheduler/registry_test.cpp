#include "scheduler/registry.h"

#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/networks/networks.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/requirements.h"
#include "scheduler/list/timeline.h"
#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/slow_simulator.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

ScheduleResult run_named(std::string_view name, const Graph& graph, const Platform& platform,
                         const Context& context = {}) {
  const Algorithm& algorithm = built_in().find(name);
  const CostModel costs = CostModel::from_graph(graph, platform);
  Options options(algorithm.options);
  if (options.has("iterations")) options.set("iterations=1000");
  if (options.has("generations")) options.set("generations=3");
  return algorithm.run(Problem(costs), options, context);
}

/// Returns the graph with one operator changed.
template <class Change>
Graph changed(const Graph& graph, std::size_t index, Change change) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  change(operators[index]);
  return Graph(graph.name(), operators, {graph.edges().begin(), graph.edges().end()},
               graph.stage_cost());
}

TEST(Registry, ListsTheAlgorithms) {
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : built_in().all()) names.push_back(algorithm.name);
  EXPECT_EQ(
      names,
      (std::vector<std::string_view>{
          "sequential", "ios",         "inter-lp",      "hios-lp",   "inter-mr", "hios-mr",
          "heft",       "peft",        "cluster",       "hios",      "met",      "greedy",
          "getf",       "m-sct",       "annealing",     "ea",        "best",     "milp",
          "milp-split", "slice-graph", "load-then-run", "pipelined", "deepplan", "efficient-mip",
          "sortinghat"}));
  EXPECT_EQ(built_in().find("ios").name, "ios");
  EXPECT_EQ(built_in().find("ios").constraints, kWantsOneDevice);
  EXPECT_EQ(built_in().find("hios-mr").constraints, kKeepsConstraints);
  test::expect_error([] { built_in().find("best-of-all"); },
                     {"best-of-all", "hios-lp", "sequential"});
}

// A user's scheduler: operators in topological order, each on the device where it ends first.
ScheduleResult schedule_nearest(const Problem& problem, const Options& options,
                                const Context& context) {
  const Graph& graph = problem.graph();
  const CostModel& costs = problem.costs();
  require_placeable(graph, costs, "nearest");
  Placement placement(graph, costs);
  ListTimeline timeline(graph, costs);
  for (const OpId op : graph.topological()) {
    std::optional<DeviceId> best;
    double best_ms = 0;
    for (std::size_t d = 0; d < problem.platform().size(); ++d) {
      const DeviceId device(d);
      if (!placement.may_go(op, device)) continue;
      const double end_ms = timeline.earliest_start_ms(op, device) + costs.operator_ms(op, device);
      if (best && end_ms >= best_ms + options.number("slack_ms")) continue;
      best = device;
      best_ms = end_ms;
    }
    if (!best) throw InputError("nearest: " + graph.op(op).name + " is left over");
    placement.place(op, *best);
    timeline.place(op, *best);
  }
  return complete(timeline.schedule(), Outcome::kFeasible, problem, options, context);
}

Algorithm nearest() {
  return {.name = "nearest",
          .description = "each operator where it ends first",
          .options = {{"slack_ms", 0.0, 0, 1, "a device that ends it this much later will do"}},
          .run = schedule_nearest};
}

TEST(Registry, AcceptsASchedulerOfAUser) {
  Registry registry = built_in();
  registry.add(nearest());
  EXPECT_EQ(registry.all().size(), built_in().all().size() + 1);
  EXPECT_EQ(registry.all().back().name, "nearest");
  test::expect_error([] { built_in().find("nearest"); }, {"nearest"});
  Random random(9, "own");
  for (int i = 0; i < 20; ++i) {
    const Graph graph = test::random_graph(30, 0.1, {}, random);
    const Platform platform = test::devices(3, 2);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const Algorithm& own = registry.find("nearest");
    Options options(own.options);
    options.set("slack_ms=0.5");
    const ScheduleResult result = own.run(Problem(costs), options, {});
    EXPECT_TRUE(validate(graph, platform, result.schedule).empty());
    EXPECT_EQ(result.latency_ms, simulate(graph, result.schedule, costs).latency_ms);
    EXPECT_EQ(result.lower_bound_ms, lower_bound(graph, costs).ms);
    EXPECT_EQ(result.options.non_defaults().dump(), R"({"slack_ms":0.5})");
  }
}

TEST(Registry, KeepsItsAlgorithms) {
  Registry registry;
  for (int i = 0; i < 100; ++i) {
    Algorithm algorithm = nearest();
    algorithm.name = "nearest-with-a-long-name-" + std::to_string(i);
    algorithm.options.front().name = "slack-with-a-long-name-" + std::to_string(i);
    registry.add(std::move(algorithm));
  }
  const Registry copy = registry;
  registry = {};
  for (int i = 0; i < 100; ++i) {
    const Algorithm& found = copy.find("nearest-with-a-long-name-" + std::to_string(i));
    EXPECT_EQ(found.description, "each operator where it ends first");
    EXPECT_TRUE(Options(found.options).has("slack-with-a-long-name-" + std::to_string(i)));
    EXPECT_EQ(found.constraints, kKeepsConstraints);
  }
}

TEST(Registry, RefusesNamesThatNoFlagCanGive) {
  const auto add = [](const std::string& name) {
    Registry registry = built_in();
    Algorithm algorithm = nearest();
    algorithm.name = name;
    registry.add(std::move(algorithm));
  };
  for (const char* name : {"", "a,b", "a b", "all", "best"}) {
    test::expect_error([&] { add(name); }, {"\"" + std::string(name) + "\""});
  }
  Registry registry;
  test::expect_error(
      [&] { registry.add({.name = "empty", .description = "", .options = {}, .run = {}}); },
      {"empty", "no function"});
  Algorithm wrong = nearest();
  wrong.options.front().default_value = 2.0;
  EXPECT_THROW(registry.add(wrong), std::logic_error);
  EXPECT_TRUE(registry.all().empty());
}

TEST(Registry, DefaultsAreThePapers) {
  EXPECT_EQ(Options(built_in().find("hios-lp").options).integer("window"), 4);
  EXPECT_FALSE(Options(built_in().find("hios-lp").options).boolean("insertion"));
  EXPECT_EQ(Options(built_in().find("hios-mr").options).integer("window"), 4);
  EXPECT_EQ(Options(built_in().find("ios").options).integer("max_group"), 3);
  EXPECT_EQ(Options(built_in().find("ios").options).integer("max_groups"), 8);
}

TEST(Registry, LargerRandomGraphsOnSeveralDevices) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    Random random(seed, "larger");
    test::CostStyle style;
    style.small_integers = seed % 4 == 0;
    style.by_device = seed % 5 == 0;
    const Graph graph = test::random_graph(60, 0.05, style, random);
    const Platform platform = test::devices(1 + seed % 4, 1 + static_cast<int>(seed % 6));
    const CostModel costs = CostModel::from_graph(graph, platform);
    const test::PlainCosts plain_costs = test::plain_costs_of(graph, platform);
    for (const Algorithm& algorithm : built_in().all()) {
      if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
      if (algorithm.exact) continue;  // oracle_test judges those that are built, on small graphs
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(algorithm.name));
      Options options(algorithm.options);
      if (options.has("max_endings")) options.set("max_endings=3000");
      if (options.has("iterations")) options.set("iterations=3000");
      if (options.has("generations")) options.set("generations=3");
      const ScheduleResult result = algorithm.run(Problem(costs), options, {});
      EXPECT_TRUE(validate(graph, platform, result.schedule).empty());
      EXPECT_TRUE(test::runs_to_its_end(graph, result.schedule));
      EXPECT_DOUBLE_EQ(result.latency_ms,
                       *test::slow_latency_ms(graph, result.schedule, plain_costs));
      EXPECT_LE(result.lower_bound_ms, result.latency_ms);
      EXPECT_FALSE(result.bound.empty());
      const ScheduleResult again = algorithm.run(Problem(costs), options, {});
      EXPECT_EQ(again.schedule, result.schedule) << "the same arguments give the same schedule";
    }
  }
}

TEST(Registry, TheFourNetworks) {
  for (const models::Entry& entry : models::all()) {
    if (test::kSanitized && entry.name == "nasnet_large") continue;  // the largest by far
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
    for (const Algorithm& algorithm : built_in().all()) {
      if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
      if (algorithm.exact) continue;  // oracle_test judges those that are built, on small graphs
      SCOPED_TRACE(std::string(entry.name) + ", " + std::string(algorithm.name));
      const ScheduleResult result = run_named(algorithm.name, graph, platform);
      EXPECT_TRUE(validate(graph, platform, result.schedule).empty());
      if (algorithm.name == "ios") {
        const bool whole = entry.name != "nasnet_large";  // whose cells all overlap
        EXPECT_EQ(result.outcome, whole ? Outcome::kOptimal : Outcome::kFeasible);
      }
    }
  }
}

TEST(Registry, ComposedAlgorithmsAreNoWorseThanTheirFirstStep) {
  for (std::uint64_t seed = 0; seed < test::tries(30u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "composed");
    const Graph graph = test::random_graph(40, 0.08, {}, random);
    const Platform platform = test::devices(2, 3);
    EXPECT_LE(run_named("hios-lp", graph, platform).latency_ms,
              run_named("inter-lp", graph, platform).latency_ms);
    EXPECT_LE(run_named("hios-mr", graph, platform).latency_ms,
              run_named("inter-mr", graph, platform).latency_ms);
  }
}

TEST(Registry, WithoutTimeSchedulesAreValidAndTimedOut) {
  Random random(4, "late");
  const Graph graph = test::random_graph(50, 0.06, {}, random);
  const Platform platform = test::devices(2, 3);
  Context late;
  late.deadline = Deadline([] { return true; });
  for (std::string_view name : {"ios", "inter-lp", "hios-lp", "inter-mr", "hios-mr", "greedy",
                                "getf", "m-sct", "annealing", "ea", "best"}) {
    SCOPED_TRACE(name);
    const ScheduleResult result = run_named(name, graph, platform, late);
    EXPECT_EQ(result.outcome, Outcome::kTimeLimit);
    EXPECT_TRUE(validate(graph, platform, result.schedule).empty());
  }
}

TEST(Registry, AGivenBoundIsNotComputedAgain) {
  const Graph graph = test::small_graph({1, 2}, {{1, 2, 1}});
  Context context;
  context.bound = LowerBound{0.5, "given"};
  for (const Algorithm& algorithm : built_in().all()) {
    if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
    if (algorithm.exact) continue;  // oracle_test judges those that are built, on small graphs
    SCOPED_TRACE(algorithm.name);
    const ScheduleResult result = run_named(algorithm.name, graph, test::devices(2, 2), context);
    EXPECT_EQ(result.lower_bound_ms, 0.5);
    EXPECT_EQ(result.bound, "given");
  }
}

TEST(Registry, EmptyGraph) {
  const Graph graph("empty", {}, {});
  for (const Algorithm& algorithm : built_in().all()) {
    if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
    if (algorithm.exact) continue;  // oracle_test judges those that are built, on small graphs
    SCOPED_TRACE(algorithm.name);
    const ScheduleResult result = run_named(algorithm.name, graph, test::devices(2, 2));
    EXPECT_EQ(result.latency_ms, 0);
    EXPECT_EQ(result.schedule.devices.size(), 2u);
  }
}

TEST(Registry, OneDeviceAlgorithmsTakeTheFastest) {
  Graph graph = test::small_graph({4, 2}, {{1, 2, 1}});
  graph = changed(graph, 0, [](Operator& op) { op.time_by_device = {{"gpu1", 1}, {"gpu2", 1}}; });
  for (std::string_view name : {"sequential", "ios"}) {
    const ScheduleResult result = run_named(name, graph, test::devices(3, 2));
    EXPECT_EQ(result.schedule.devices[1].size(), 2u) << "the first of two equally fast devices";
    EXPECT_EQ(result.latency_ms, 3);
  }
}

TEST(Registry, OneDeviceAlgorithmsTakeOneThatCanRunAll) {
  const Graph graph = changed(test::small_graph({1, 2}, {{1, 2, 1}}), 1,
                              [](Operator& op) { op.allowed = {"gpu1"}; });
  for (std::string_view name : {"sequential", "ios"}) {
    const ScheduleResult result = run_named(name, graph, test::devices(3, 2));
    EXPECT_TRUE(result.schedule.devices[0].empty());
    EXPECT_EQ(result.schedule.devices[1].size(), 2u);
  }
  const Graph torn = changed(graph, 0, [](Operator& op) { op.allowed = {"gpu0"}; });
  test::expect_error([&] { run_named("sequential", torn, test::devices(2, 2)); },
                     {"sequential", "gpu0", "v2"});
}

TEST(Registry, HonoursLabelsAndMemory) {
  const Graph plain = test::small_graph({1, 2, 3}, {{1, 2, 1}});
  Graph labelled = changed(plain, 0, [](Operator& op) { op.colocate = "pair"; });
  labelled = changed(labelled, 2, [](Operator& op) { op.colocate = "pair"; });
  const Graph heavy = changed(plain, 1, [](Operator& op) { op.parameter_bytes = 100; });
  const Platform small({{"gpu0", "gpu", 0, 2, 99, ""}, {"gpu1", "gpu", 0, 2, 0, ""}});
  for (const Algorithm& algorithm : built_in().all()) {
    if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
    if (algorithm.exact) continue;  // oracle_test judges those that are built, on small graphs
    SCOPED_TRACE(algorithm.name);
    const Platform two = test::devices(2, 2);
    EXPECT_TRUE(validate(labelled, two, run_named(algorithm.name, labelled, two).schedule).empty());
    EXPECT_TRUE(validate(heavy, small, run_named(algorithm.name, heavy, small).schedule).empty());
  }
}

TEST(Registry, RefusalsNameTheOperatorThatNoDeviceHolds) {
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
  for (std::string_view name : {"inter-lp", "hios-lp", "inter-mr", "hios-mr", "heft", "peft",
                                "cluster", "met", "greedy", "getf", "m-sct", "annealing", "ea"}) {
    SCOPED_TRACE(name);
    test::expect_error([&] { run_named(name, heavy, small); }, {name, "v2", "100 bytes"});
    test::expect_error([&] { run_named(name, torn, small); }, {name, "v1", "pair"});
  }
  for (std::string_view name : {"sequential", "ios"}) {
    test::expect_error([&] { run_named(name, heavy, small); }, {name, "v2"});
  }
}

}  // namespace
}  // namespace hios::scheduler
