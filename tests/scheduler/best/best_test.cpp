#include "scheduler/best/best.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/algorithms/baselines/sequential.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/registry.h"
#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/searched.h"
#include "support/sanitized.h"

namespace hios::scheduler::best {
namespace {

using test::kOracleRounding;
using test::style_by_number;

void expect_optimum(const CostModel& costs, const test::PlainCosts& plain_costs) {
  const double least = test::brute_force(costs.graph(), costs.platform(), plain_costs).latency_ms;
  EXPECT_NEAR(search_for(costs, 3000).latency_ms, least, least * kOracleRounding);
}

TEST(Best, FindsTheOptimumOfEveryDagOfUpToFourOperators) {
  for (std::size_t n = 1; n <= 4; ++n) {
    for (std::uint64_t edge_set = 0; edge_set < std::uint64_t{1} << (n * (n - 1) / 2); ++edge_set) {
      SCOPED_TRACE(std::to_string(n) + " operators, edge set " + std::to_string(edge_set));
      Random random(edge_set, "best of four");
      const Graph graph = test::dag(n, edge_set, style_by_number(edge_set), random);
      const Platform platform = test::devices(2, 1 + static_cast<int>(edge_set % 3));
      expect_optimum(CostModel::from_graph(graph, platform), test::plain_costs_of(graph, platform));
    }
  }
}

TEST(Best, FindsTheOptimumOfDagsOfFiveAndSixOperators) {
  for (std::uint64_t seed = 0; seed < test::tries(150u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "best of six");
    const std::size_t n = seed % 5 == 0 ? 6 : 5;
    test::CostStyle style = style_by_number(seed);
    style.by_device = seed % 7 == 0;
    const Graph graph = test::dag(n, random.below(1 << (n * (n - 1) / 2)), style, random);
    const Platform platform = test::devices(2 + seed % 2, 1 + static_cast<int>(seed % 5));
    expect_optimum(CostModel::from_graph(graph, platform), test::plain_costs_of(graph, platform));
  }
}

TEST(Best, FindsTheOptimumOfMeasuredStages) {
  for (std::uint64_t seed = 0; seed < test::tries(100u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "best measured");
    Graph graph = test::dag(5, random.below(1 << 10), {}, random);
    const Platform platform = test::devices(2, 1 + static_cast<int>(seed % 4));
    const Profile profile = test::random_profile(graph, platform, random);
    const CostModel costs = CostModel::from_profile(graph, platform, profile);
    expect_optimum(costs, test::plain_costs_of(costs));
  }
}

// Operators that follow each other on a device may gain from one stage: it copies what has arrived
// while it waits for the rest. `best` makes stages of operators that run at the same time only.
TEST(Best, IsNearTheOptimumWhereSomeDevicesShareMemory) {
  unsigned optimal = 0;
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "best shared");
    Graph graph = test::dag(5, random.below(1 << 10), {}, random);
    const Platform platform = test::devices(3, 1);
    const Profile profile =
        test::with_shared_memory(test::random_profile(graph, platform, random), random);
    const CostModel costs = CostModel::from_profile(graph, platform, profile);
    const double least = test::brute_force(graph, platform, test::plain_costs_of(costs)).latency_ms;
    const double found = search_for(costs, 3000).latency_ms;
    EXPECT_GE(found, least * (1 - kOracleRounding));
    EXPECT_LE(found, least * 1.01);
    optimal += found <= least * (1 + kOracleRounding);
  }
  EXPECT_GE(optimal, test::tries(60u) * 9 / 10);
}

/// The algorithms that `best` starts from; the papers' baselines are not among them.
bool is_a_start(const Algorithm& algorithm) {
  const auto listed = built_in().all();
  const auto end = std::find_if(listed.begin(), listed.end(),
                                [](const Algorithm& other) { return other.name == "met"; });
  return std::any_of(listed.begin(), end,
                     [&](const Algorithm& other) { return other.name == algorithm.name; });
}

TEST(Best, IsNeverWorseThanAnyThatItStartsFrom) {
  for (std::uint64_t seed = 0; seed < test::tries(30u); ++seed) {
    Random random(seed, "never worse");
    test::CostStyle style = style_by_number(seed);
    style.by_device = seed % 5 == 4;
    const Graph graph = test::random_graph(40, 0.07, style, random);
    const Platform platform = test::devices(1 + seed % 4, 1 + static_cast<int>(seed % 6));
    const CostModel costs = CostModel::from_graph(graph, platform);
    const double latency = search_for(costs, 1 + static_cast<std::int64_t>(seed) * 100).latency_ms;
    for (const Algorithm& algorithm : built_in().all()) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(algorithm.name));
      if (!is_a_start(algorithm)) continue;
      Options options(algorithm.options);
      if (options.has("max_endings")) options.set("max_endings=" + std::to_string(kEndings));
      const ScheduleResult other = algorithm.run(Problem(costs), options, {});
      EXPECT_LE(latency, other.latency_ms);
    }
  }
}

TEST(Best, IsNeverWorseThanTheStartOfItsContext) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Random random(seed, "given start");
    const Graph graph = test::random_graph(40, 0.07, style_by_number(seed), random);
    const Platform platform = test::devices(3, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const BestResult longer = search_for(costs, 20'000);
    Context context;
    context.start = &longer.schedule;
    EXPECT_LE(search(graph, costs, {.iterations = 1}, 0, context).latency_ms, longer.latency_ms);
  }
}

TEST(Best, TheSameSeedAndBudgetGiveTheSameScheduleWithAnyNumberOfThreads) {
  RandomDag parameters;
  parameters.operators = 80;
  parameters.edges = 160;
  const Graph graph = random_dag(parameters);
  const Platform platform = test::devices(3, 4);
  const CostModel costs = CostModel::from_graph(graph, platform);
  Context context;
  context.seed = 5;
  const Schedule one = search_for(costs, 60'000, 1, context).schedule;
  EXPECT_EQ(search_for(costs, 60'000, 2, context).schedule, one);
  EXPECT_EQ(search_for(costs, 60'000, 3, context).schedule, one);
  context.seed = 6;
  EXPECT_NE(search_for(costs, 60'000, 1, context).schedule, one);
}

TEST(Best, ComesCloseToTheBoundOnThePapersNetworks) {
  RandomDag parameters;
  const Graph graph = random_dag(parameters);
  const Platform platform = test::devices(4, 8);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const BestResult result = search_for(costs, 200'000, 2);
  EXPECT_LE(result.latency_ms, lower_bound(graph, costs).ms * 1.03);
}

/// Problems with times by device, devices that may not run all, labels, limited memory, and unlike
/// numbers of streams.
Graph constrained_graph(std::uint64_t seed, Random& random) {
  test::CostStyle style;
  style.by_device = seed % 2 == 0;
  const Graph plain = test::random_graph(24, 0.1, style, random);
  std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].memory_bytes = random.below(50);
    operators[i].parameter_bytes = random.below(50);
    const bool anywhere = operators[i].time_by_device.empty();
    if (anywhere && random.below(3) == 0) {
      operators[i].colocate = std::string("label").append(std::to_string(random.below(4)));
    } else if (anywhere && random.below(4) == 0) {
      operators[i].allowed = {std::string("gpu").append(std::to_string(random.below(3)))};
    }
  }
  return Graph("constrained", operators, {plain.edges().begin(), plain.edges().end()},
               plain.stage_cost());
}

/// Limits memory to some placement of the graph, plus ten bytes a device.
Platform hardly_enough_for(const Graph& graph, Random& random) {
  std::vector<Device> devices{
      {"gpu0", "gpu", 0, 3, 10, ""}, {"gpu1", "gpu", 0, 1, 10, ""}, {"gpu2", "gpu", 0, 2, 10, ""}};
  std::map<std::string, std::size_t> labelled;
  for (const Operator& op : graph.operators()) {
    std::size_t d = random.below(3);
    while (!may_run(op, devices[d])) d = random.below(3);
    if (!op.colocate.empty()) d = labelled.emplace(op.colocate, d).first->second;
    devices[d].memory_bytes += op.memory_bytes + op.parameter_bytes;
  }
  return Platform(devices);
}

TEST(Best, RespectsMemoryThatHardlySuffices) {
  for (std::uint64_t seed = 0; seed < test::tries(20u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "hardly enough");
    const Graph graph = constrained_graph(seed, random);
    const Platform platform = hardly_enough_for(graph, random);
    const CostModel costs = CostModel::from_graph(graph, platform);
    EXPECT_LE(search_for(costs, 5'000).latency_ms, search_for(costs, 1).latency_ms);
  }
}

TEST(Best, RespectsEveryConstraint) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "constrained");
    const Graph graph = constrained_graph(seed, random);
    Bytes all = 0;
    for (const Operator& op : graph.operators()) all += op.memory_bytes + op.parameter_bytes;
    const Platform platform({{"gpu0", "gpu", 0, 3, all / 2, ""},
                             {"gpu1", "gpu", 0, 1, all / 2, ""},
                             {"gpu2", "gpu", 0, 2, 0, ""}});
    const CostModel costs = CostModel::from_graph(graph, platform);
    const BestResult little = search_for(costs, 1);
    const BestResult much = search_for(costs, 10'000);
    EXPECT_LE(much.latency_ms, little.latency_ms);
    better += much.latency_ms < little.latency_ms;
  }
  EXPECT_GE(better, test::tries(30)) << "constrained problems are searched, too";
}

// A greedy mapping puts a on the device that b needs; neither can move before the other has.
TEST(Best, ExchangesOperatorsOfFullDevices) {
  std::vector<Operator> operators(2);
  operators[0].name = "a";
  operators[0].time_by_device = {{"gpu0", 2}, {"gpu1", 1}};
  operators[1].name = "b";
  operators[1].time_by_device = {{"gpu0", 9}, {"gpu1", 1}};
  for (Operator& op : operators) op.memory_bytes = 10;
  const Graph graph("full", operators, {});
  const Platform platform({{"gpu0", "gpu", 0, 1, 10, ""}, {"gpu1", "gpu", 0, 1, 10, ""}});
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(search_for(costs, 1000).latency_ms, 2);
}

TEST(Best, RefusesTooLittleMemory) {
  Operator op;
  op.name = "large";
  op.time_ms = 1;
  op.has_time = true;
  op.memory_bytes = 100;
  const Graph graph("large", {op}, {});
  const Platform platform({{"gpu0", "gpu", 0, 1, 99, ""}, {"gpu1", "gpu", 0, 1, 50, ""}});
  const CostModel costs = CostModel::from_graph(graph, platform);
  test::expect_error([&] { search(graph, costs, {}, 0, {}); }, {"best", "large", "memory_bytes"});
}

TEST(Best, StopsWhenTimeIsUpWithWhatItHas) {
  const Graph graph = random_dag({});
  const Platform platform = test::devices(4, 8);
  const CostModel costs = CostModel::from_graph(graph, platform);
  Context context;
  std::atomic<int> asked = 0;
  context.deadline = Deadline([&] { return ++asked > 2000; });
  const BestResult late = search_for(costs, 0, 2, context);
  EXPECT_TRUE(late.timed_out);
  EXPECT_FALSE(late.optimal);
  EXPECT_LT(asked, 2100) << "asked often after it had expired";
  context.deadline = Deadline([] { return true; });
  EXPECT_TRUE(search_for(costs, 0, 2, context).timed_out);
}

/// The least latency of all algorithms that `best` starts from, with an expired deadline.
double least_without_time(const CostModel& costs, const LowerBound& bound) {
  Context context;
  context.bound = bound;
  context.deadline = Deadline([] { return true; });
  double least = std::numeric_limits<double>::infinity();
  for (const Algorithm& algorithm : built_in().all()) {
    if (!is_a_start(algorithm)) continue;
    const Options options(algorithm.options);
    try {
      least = std::min(least, algorithm.run(Problem(costs), options, context).latency_ms);
    } catch (const InputError&) {
      continue;  // no single device can run all
    }
  }
  return least;
}

void expect_no_worse_whenever_time_runs_out(const CostModel& costs) {
  const Graph& graph = costs.graph();
  const LowerBound bound = lower_bound(graph, costs);
  const double least = least_without_time(costs, bound);
  for (const int calls : {0, 1, 5, 30, 200}) {
    for (const std::size_t threads : {1, 3}) {
      SCOPED_TRACE("calls " + std::to_string(calls) + ", threads " + std::to_string(threads));
      std::atomic<int> asked = 0;
      Context context;
      context.deadline = Deadline([&] { return ++asked > calls; });
      BestOptions options;
      options.threads = threads;
      const BestResult result = search(graph, costs, options, bound.ms, context);
      EXPECT_TRUE(validate(graph, costs.platform(), result.schedule).empty());
      EXPECT_LE(result.latency_ms, least * (1 + kOracleRounding));
    }
  }
}

TEST(Best, WheneverTimeRunsOutItIsNoWorseThanAnyOtherWithoutTime) {
  for (std::uint64_t seed = 0; seed < test::tries(30u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "out of time");
    test::CostStyle style = style_by_number(seed);
    style.by_device = seed % 5 == 4;
    const Graph graph = test::random_graph(40, 0.07, style, random);
    const Platform platform = test::devices(1 + seed % 4, 1 + static_cast<int>(seed % 6));
    expect_no_worse_whenever_time_runs_out(CostModel::from_graph(graph, platform));
  }
}

// Here `ios` is the shortest by far, even with an expired deadline.
TEST(Best, WithoutTimeItStillRunsIos) {
  for (std::uint64_t seed = 0; seed < test::tries(3u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomDag parameters;
    parameters.seed = seed;
    const Graph graph = random_dag(parameters);
    const Platform platform = test::devices(1, 8);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const double serial_ms = simulate(graph, {{sequential(graph)}}, costs).latency_ms;
    ASSERT_LT(least_without_time(costs, lower_bound(graph, costs)), 0.95 * serial_ms);
    expect_no_worse_whenever_time_runs_out(costs);
  }
}

TEST(Best, EndsAtTheBound) {
  const Graph graph = test::small_graph({3, 2, 1}, {{1, 2, 1}, {2, 3, 1}});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  Context context;
  context.deadline = Deadline([] { return false; });
  const BestResult result = search_for(costs, 0, 2, context);
  EXPECT_TRUE(result.optimal);
  EXPECT_EQ(result.latency_ms, 6);
}

TEST(Best, ReportsProgressFromTheCallersThread) {
  const Graph graph = random_dag({});
  const Platform platform = test::devices(4, 8);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const auto caller = std::this_thread::get_id();
  std::vector<std::string> lines;
  Context context;
  context.progress = [&](std::string_view line) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    lines.emplace_back(line);
  };
  // Four islands, each in one cycle of the whole budget, since less than half of another is left.
  search_for(costs, 30'000, 2, context);
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.back().find(", 0.1 M moves"), std::string::npos) << lines.back();
  for (const char* word : {"best: ", " ms, bound ", "gap ", " moves"}) {
    EXPECT_NE(lines.back().find(word), std::string::npos) << lines.back();
  }
}

TEST(Best, RequestsUnmeasuredStagesOnTheCallersThreadOnly) {
  Random random(3, "asks");
  Graph graph = test::random_graph(40, 0.06, {}, random);
  const Platform platform = test::devices(2, 3);
  const Profile profile = test::random_profile(graph, platform, random);
  CostModel costs = CostModel::from_profile(graph, platform, profile);
  const auto caller = std::this_thread::get_id();
  int asked = 0;
  costs.on_unmeasured([&](const Stage&, DeviceId) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    ++asked;
  });
  search_for(costs, 5'000, 2);
  EXPECT_GT(asked, 0) << "stages that the first algorithms ask for";
}

TEST(Best, HasTheIslandsGivenOrAsManyAsThreadsWhereOnlyTimeEndsIt) {
  const auto islands = [](std::size_t given, std::size_t threads, bool deadline_alone) {
    return island_count({.islands = given, .threads = threads}, deadline_alone);
  };
  for (const std::size_t threads : {1u, 3u, 8u}) {
    EXPECT_EQ(islands(0, threads, false), 4u);
    for (const bool alone : {false, true}) EXPECT_EQ(islands(7, threads, alone), 7u);
  }
  EXPECT_EQ(islands(0, 1, true), 2u);
  EXPECT_EQ(islands(0, 3, true), 3u);
  EXPECT_EQ(islands(0, 8, true), 4u);
}

}  // namespace
}  // namespace hios::scheduler::best
