#include "scheduler/cold/sortinghat/sortinghat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/validate.h"
#include "scheduler/cold/cold_start_bound.h"
#include "scheduler/milp/solver.h"
#include "scheduler/registry.h"
#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/cold/slow_cold_simulator.h"
#include "support/oracles/cold/two_device_optimum.h"
#include "support/oracles/solvers.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

constexpr std::size_t kTwo = 2;
constexpr double kRoundingOfTimes = 1e-7;
constexpr double kCbcRounding = 1e-3;  ///< ms; Cbc takes for an integer what is nearly one
constexpr Bytes kMegabytes = 1'000'000;

/// Returns two devices on one bus from memory, a GB/s wide, or on one each, and links between them.
Platform two_on_a_bus(double link_gb_per_s, bool one_bus = true, Bytes memory_bytes = 0) {
  std::vector<Device> devices(kTwo);
  for (std::size_t d = 0; d < kTwo; ++d) {
    devices[d].name = "gpu" + std::to_string(d);
    devices[d].kind = "gpu";
    devices[d].memory_bytes = memory_bytes;
  }
  return Platform(std::move(devices), {{"dram", "", StoreKind::kMemory}},
                  {{"pcie0", 1}, {"pcie1", 1}, {"there", link_gb_per_s}, {"back", link_gb_per_s}},
                  {{StoreId(0), DeviceId(0), {BusId(0)}, 0, 100},
                   {StoreId(0), DeviceId(1), {BusId(one_bus ? 0 : 1)}, 0, 100},
                   {DeviceId(0), DeviceId(1), {BusId(2)}, 0, 100},
                   {DeviceId(1), DeviceId(0), {BusId(3)}, 0, 100}});
}

Operator op_of(std::string name, double ms, Bytes parameters) {
  Operator op;
  op.name = std::move(name);
  op.time_ms = ms;
  op.has_time = true;
  op.parameter_bytes = parameters;
  return op;
}

Edge edge_of(std::size_t from, std::size_t to, Bytes bytes) {
  return {OpId(from), OpId(to), bytes, {}, {}};
}

ScheduleResult run(const std::string& name, const CostModel& costs,
                   const std::vector<std::string>& words = {}, const Context& context = {}) {
  const Algorithm& algorithm = built_in().find(name);
  Options options(algorithm.options);
  for (const std::string& word : words) options.set(word);
  return algorithm.run(Problem(costs, Objective::kColdStart), options, context);
}

/// Returns the graph with parameters, some shared, and bytes for its edges; some operators can be
/// read in place.
Graph cold_graph(std::size_t n, std::uint64_t edge_set, Random& random) {
  const Graph bare = test::dag(n, edge_set, {.overlap = false}, random);
  std::vector<Operator> operators(bare.operators().begin(), bare.operators().end());
  std::vector<Edge> edges(bare.edges().begin(), bare.edges().end());
  for (Operator& op : operators) {
    const bool tied = random.below(4) == 0;
    op.parameter_bytes = kMegabytes * (tied ? 2 : random.below(5));
    if (tied) op.parameters = "tied";
    if (random.below(2) == 0) op.in_place_ms = op.time_ms + random.uniform(0, 3);
  }
  for (Edge& edge : edges) {
    edge.transfer_ms.reset();
    edge.size_bytes = kMegabytes / 2 * random.below(4);
  }
  return Graph("cold", std::move(operators), std::move(edges), bare.stage_cost());
}

/// Tests that need a solver, run with the first of this build.
class SortingHat : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> first_solver() {
  std::vector<std::string> names = test::solver_names();
  if (names.size() > 1) names.resize(1);
  return names;
}

INSTANTIATE_TEST_SUITE_P(FirstSolver, SortingHat, ::testing::ValuesIn(first_solver()),
                         [](const auto& solver) { return solver.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SortingHat);  // for builds without a solver

TEST_P(SortingHat, IsValidAndNoBetterThanBruteForceOnEverySmallDag) {
  std::uint64_t number = 0;
  for (std::size_t n = 1; n <= 3; ++n) {
    for (std::uint64_t edge_set = 0; edge_set < std::uint64_t{1} << (n * (n - 1) / 2); ++edge_set) {
      SCOPED_TRACE(std::to_string(n) + " operators, edge set " + std::to_string(edge_set));
      Random random(edge_set, "sortinghat");
      const Graph graph = cold_graph(n, edge_set, random);
      const bool one_bus = number++ % 3 > 0;
      const Platform platform = two_on_a_bus(random.uniform(1, 4), one_bus);
      const CostModel costs = CostModel::from_graph(graph, platform);
      Context context;
      context.bound = cold_start_bound(graph, costs);
      const ScheduleResult result = run("sortinghat", costs, {"q=2"}, context);
      const double slack_ms = kRoundingOfTimes * (1 + result.latency_ms);
      const auto findings = validate(graph, platform, result.schedule, Objective::kColdStart);
      ASSERT_TRUE(findings.empty()) << findings.front().text;
      const auto slow = test::slow_cold_timeline(graph, result.schedule, costs);
      ASSERT_TRUE(slow);
      EXPECT_NEAR(result.latency_ms, slow->latency_ms, slack_ms);
      EXPECT_GE(result.latency_ms, test::least_two_device_ms(graph, costs, one_bus) - slack_ms);
      EXPECT_LE(result.lower_bound_ms, result.latency_ms + slack_ms);
      EXPECT_LE(result.latency_ms, run("pipelined", costs).latency_ms + slack_ms);
    }
  }
}

TEST_P(SortingHat, SubmodelsInARowAreValidWithEveryOption) {
  const std::vector<std::vector<std::string>> options = {
      {"lanes=round-robin"}, {"lanes=use"}, {"own_bus=true"}, {"mean_speeds=true"},
      {"contention=paper"},  {"ndom=2"},    {"q=4"},          {"most_operators=2"}};
  for (std::uint64_t seed = 0; seed < test::tries(8u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "submodels in a row");
    const Graph graph = cold_graph(6, random.below(1 << 15), random);
    const Platform platform = two_on_a_bus(random.uniform(1, 4), seed % 3 > 0);
    const CostModel costs = CostModel::from_graph(graph, platform);
    std::vector<std::string> words = {"nodes=20", "most_operators=3", "q=2"};
    for (const std::string& word : options[seed % options.size()]) words.push_back(word);
    const ScheduleResult result = run("sortinghat", costs, words);
    const auto findings = validate(graph, platform, result.schedule, Objective::kColdStart);
    ASSERT_TRUE(findings.empty()) << findings.front().text;
    EXPECT_LE(result.latency_ms, run("pipelined", costs).latency_ms + kRoundingOfTimes);
    EXPECT_EQ(run("sortinghat", costs, words).schedule, result.schedule);
  }
}

/// a, then b and c, which take 2 ms to load and 4 ms each, then d.
Graph fork() {
  return Graph(
      "fork",
      {op_of("a", 1, 0), op_of("b", 4, 2 * kMegabytes), op_of("c", 4, 2 * kMegabytes),
       op_of("d", 1, 0)},
      {edge_of(0, 1, 1000), edge_of(0, 2, 1000), edge_of(1, 3, 1000), edge_of(2, 3, 1000)});
}

// One device: b runs from 2 to 6 ms, c to 10, d to 11. Two devices on the same bus: b is there at
// 2 ms, c at 4, and runs to 8, where d follows. Sharing the bus, both would be there at 4 ms.
TEST_P(SortingHat, BeatsOneDeviceOverOneBus) {
  const Graph graph = fork();
  const Platform platform = two_on_a_bus(10);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_NEAR(run("pipelined", costs).latency_ms, 11, 1e-6);
  std::vector<std::string> lines;
  Context context;
  context.progress = [&](std::string_view line) { lines.emplace_back(line); };
  const ScheduleResult result = run("sortinghat", costs, {"q=4"}, context);
  EXPECT_NEAR(result.latency_ms, 9, kCbcRounding);
  ASSERT_EQ(result.schedule.weights->lanes.size(), 1u) << "the devices share a bus, and so a lane";
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.back().find("the programs predict 9.000 ms, simulated 9.000 ms"),
            std::string::npos)
      << lines.back();
}

// Each device has a bus, and the operator's times allow one: half of the parameters come over the
// other bus and are copied (parallel transmission, section 3.2).
TEST_P(SortingHat, LoadsThroughTheOtherDevice) {
  const Graph graph("chain", {op_of("a", 0.5, 4 * kMegabytes), op_of("b", 0.5, 4 * kMegabytes)},
                    {edge_of(0, 1, 100 * kMegabytes)});
  const Platform platform = two_on_a_bus(10, false);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_NEAR(run("pipelined", costs).latency_ms, 8.5, 1e-6);
  const ScheduleResult result = run("sortinghat", costs, {"q=2", "ndom=2"});
  EXPECT_NEAR(result.latency_ms, 5, kCbcRounding);
  const auto copies = std::ranges::count_if(result.schedule.weights->lanes, [](const Lane& lane) {
    return std::holds_alternative<DeviceId>(lane.front().from);
  });
  EXPECT_EQ(copies, 1);
}

TEST_P(SortingHat, ReadsInPlaceWhereLoadingTakesLonger) {
  std::vector<Operator> operators = {op_of("a", 1, 8 * kMegabytes)};
  operators[0].in_place_ms = 2;
  operators[0].in_place_bytes = kMegabytes;
  const Graph graph("embedding", std::move(operators), {});
  const Platform platform = two_on_a_bus(10);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const ScheduleResult result = run("sortinghat", costs, {"q=2"});
  EXPECT_NEAR(result.latency_ms, 2, kCbcRounding);
  EXPECT_EQ(result.schedule.weights->in_place.size(), 1u);
}

TEST_P(SortingHat, UsesBothDevicesWhereOneHasNoRoom) {
  const Graph graph = fork();
  const Platform platform = two_on_a_bus(10, true, 3 * kMegabytes);
  const CostModel costs = CostModel::from_graph(graph, platform);
  test::expect_error<InputError>([&] { run("pipelined", costs); }, {"gpu0"});
  const ScheduleResult result = run("sortinghat", costs, {"q=2"});
  EXPECT_TRUE(validate(graph, platform, result.schedule, Objective::kColdStart).empty());
  const Platform tight = two_on_a_bus(10, true, kMegabytes);
  const CostModel none = CostModel::from_graph(graph, tight);
  test::expect_error<InputError>([&] { run("sortinghat", none); }, {"sortinghat"});
}

// Each submodel alone uses both devices for b and c; the loads share the bus, and both are there at
// 4 ms.
TEST_P(SortingHat, EfficientMipKnowsNothingOfLoads) {
  const Graph graph = fork();
  const Platform platform = two_on_a_bus(10);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const ScheduleResult result = run("efficient-mip", costs, {"q=4"});
  EXPECT_TRUE(validate(graph, platform, result.schedule, Objective::kColdStart).empty());
  EXPECT_EQ(result.schedule.weights->lanes.size(), 2u);
  EXPECT_GE(result.latency_ms, 9 - kCbcRounding);
  EXPECT_LT(result.latency_ms, 11);

  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  operators[1].time_by_device["gpu1"] = 5;
  const Graph unlike("unlike", operators, {graph.edges().begin(), graph.edges().end()});
  const CostModel unlike_costs = CostModel::from_graph(unlike, platform);
  test::expect_error<InputError>([&] { run("efficient-mip", unlike_costs); },
                                 {"efficient-mip", "'b' takes another time on 'gpu1'"});
}

// sortinghat then has no time for submodels, and takes pipelined's schedule.
TEST_P(SortingHat, AnExpiredDeadlineEndsBoth) {
  const Graph graph = fork();
  const Platform platform = two_on_a_bus(10);
  const CostModel costs = CostModel::from_graph(graph, platform);
  Context context;
  context.deadline = Deadline([] { return true; });
  for (const std::string name : {"sortinghat", "efficient-mip"}) {
    const ScheduleResult result = run(name, costs, {"q=4"}, context);
    EXPECT_EQ(result.outcome, Outcome::kTimeLimit) << name;
    EXPECT_NEAR(result.latency_ms, 11, kCbcRounding) << name;
    const auto findings = validate(graph, platform, result.schedule, Objective::kColdStart);
    EXPECT_TRUE(findings.empty()) << name;
  }
}

/// Returns the fork, in which a and b share a label and b can run on gpu1 alone, c on gpu0 alone.
Graph labelled_fork() {
  const Graph free = fork();
  std::vector<Operator> operators(free.operators().begin(), free.operators().end());
  operators[0].colocate = operators[1].colocate = "both";
  operators[1].allowed = {"gpu1"};
  operators[2].allowed = {"gpu0"};
  return Graph("labelled", std::move(operators), {free.edges().begin(), free.edges().end()});
}

// a goes to gpu1, though it could run on gpu0. Devices that cannot run an operator do not make it
// one of another speed.
TEST_P(SortingHat, BothKeepLabelsOfOperatorsThatOneDeviceRuns) {
  const Graph graph = labelled_fork();
  const Platform platform = two_on_a_bus(10);
  const CostModel costs = CostModel::from_graph(graph, platform);
  for (const std::string name : {"sortinghat", "efficient-mip"}) {
    for (const char* const most : {"most_operators=1", "most_operators=32"}) {
      const ScheduleResult result = run(name, costs, {"q=4", most});
      const auto findings = validate(graph, platform, result.schedule, Objective::kColdStart);
      EXPECT_TRUE(findings.empty()) << name << ": " << findings.front().text;
    }
  }
}

TEST(ColdPrograms, TheGreedyScheduleKeepsLabelsToo) {
  const Graph graph = labelled_fork();
  const Platform platform = two_on_a_bus(10);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Options options(built_in().find("sortinghat").options);
  const Schedule greedy = greedy_submodels(Problem(costs, Objective::kColdStart), options, {});
  EXPECT_TRUE(validate(graph, platform, greedy, Objective::kColdStart).empty());
}

TEST_P(SortingHat, EfficientMipIsValidOnSubmodelsInARow) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "efficient-mip");
    const Graph graph = cold_graph(6, random.below(1 << 15), random);
    const Platform platform = two_on_a_bus(random.uniform(1, 4), true, 40 * kMegabytes);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const ScheduleResult result =
        run("efficient-mip", costs, {"nodes=20", "most_operators=3", "q=2"});
    const auto findings = validate(graph, platform, result.schedule, Objective::kColdStart);
    ASSERT_TRUE(findings.empty()) << findings.front().text;
  }
}

TEST_P(SortingHat, RefusesOddNumbersOfSubgraphsAndUnknownWords) {
  const Graph graph = fork();
  const Platform platform = two_on_a_bus(10);
  const CostModel costs = CostModel::from_graph(graph, platform);
  test::expect_error<InputError>([&] { run("sortinghat", costs, {"q=3"}); }, {"q is 3", "even"});
  test::expect_error<InputError>([&] { run("sortinghat", costs, {"lanes=any"}); },
                                 {"shorter, round-robin or use"});
  test::expect_error<InputError>([&] { run("sortinghat", costs, {"contention=full"}); },
                                 {"none or paper"});
}

TEST(ColdPrograms, AreRefusedWithoutASolverAndWithoutRoutes) {
  const Graph graph("one", {op_of("a", 1, kMegabytes)}, {});
  const Platform no_routes = test::devices(2, 1);
  const CostModel without = CostModel::from_graph(graph, no_routes);
  const Platform platform = two_on_a_bus(10);
  const CostModel costs = CostModel::from_graph(graph, platform);
  for (const std::string name : {"sortinghat", "efficient-mip"}) {
    test::expect_error<InputError>([&] { run(name, without); }, {name, "no routes"});
    if (milp::solvers().empty()) {
      test::expect_error<InputError>([&] { run(name, costs); }, {name, "install HiGHS or Cbc"});
    } else {
      EXPECT_NEAR(run(name, costs).latency_ms, 2, kCbcRounding);
    }
  }
}

}  // namespace
}  // namespace hios::scheduler
