#include "scheduler/cold/search/search.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/cold/cold_start.h"
#include "scheduler/cold/search/plan_moves.h"
#include "scheduler/cold/sortinghat/sortinghat.h"
#include "scheduler/registry.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"

namespace hios::scheduler {
namespace {

struct SearchCase {
  Graph graph;
  Platform platform;
};

SearchCase search_case(std::uint64_t seed, std::size_t most_operators, int streams) {
  Random random(seed, "search");
  const std::size_t operators = 1 + random.below(most_operators);
  Graph graph = test::with_parameters(
      test::random_graph(operators, random.uniform(0, 0.5), {}, random), false, random);
  return {std::move(graph), test::random_topology(1 + random.below(3), streams, false, random)};
}

Context without_bound(std::uint64_t seed) {
  Context context;
  context.seed = seed;
  context.bound = LowerBound{0, "none"};
  return context;
}

ScheduleResult run_cold(const std::string& name, const SearchCase& made, std::uint64_t seed,
                        const std::string& option = {}) {
  const CostModel costs = CostModel::from_graph(made.graph, made.platform);
  const Algorithm& algorithm = built_in().find(name);
  Options options(algorithm.options);
  if (!option.empty()) options.set(option);
  return schedule_cold_start(algorithm, Problem(costs, Objective::kColdStart), options,
                             without_bound(seed), {0, "none"});
}

TEST(ColdSearch, EveryMoveLeavesAValidSchedule) {
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SearchCase here = search_case(seed, 12, 2);
    const CostModel costs = CostModel::from_graph(here.graph, here.platform);
    const cold::PlanProblem problem(costs);
    Random random(seed, "moves");
    Schedule start = test::random_schedule(here.graph, here.platform, random);
    start.weights = test::random_weights(here.graph, here.platform, start, 2, random);
    cold::ColdPlan plan = cold::plan_of(problem, start);
    for (int move = 0; move < 60; ++move) {
      if (!cold::make_move(problem, plan, random)) continue;
      const auto schedule = cold::schedule_of(problem, plan);
      ASSERT_TRUE(schedule);
      const auto findings = validate(here.graph, here.platform, *schedule, Objective::kColdStart);
      ASSERT_TRUE(findings.empty()) << findings.front().text;
      ++made;
    }
  }
  EXPECT_GT(made, 500u);
}

TEST(ColdSearch, ADeviceWithoutRoomHasNoSchedule) {
  SearchCase here = search_case(3, 12, 1);
  std::vector<Device> devices(here.platform.devices().begin(), here.platform.devices().end());
  for (Device& device : devices) device.memory_bytes = 1;
  const Topology& topology = *here.platform.topology();
  const Platform full(std::move(devices), {topology.stores().begin(), topology.stores().end()},
                      {topology.buses().begin(), topology.buses().end()},
                      {topology.routes().begin(), topology.routes().end()});
  const CostModel costs = CostModel::from_graph(here.graph, full);
  const cold::PlanProblem problem(costs);
  Random random(3, "full");
  const Schedule start = test::random_schedule(here.graph, full, random);
  EXPECT_FALSE(cold::schedule_of(problem, cold::plan_of(problem, start)));
}

TEST(ColdSearch, BestIsNeverLongerThanAnyOther) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SearchCase here = search_case(seed, 10, 1);
    const ScheduleResult best = run_cold("best", here, seed, "iterations=50");
    EXPECT_TRUE(validate(here.graph, here.platform, best.schedule, Objective::kColdStart).empty());
    for (const Algorithm& algorithm : built_in().all()) {
      if (algorithm.improves || algorithm.exact) continue;
      if (algorithm.objective == Objective::kThroughput) continue;
      EXPECT_LE(best.latency_ms, run_cold(algorithm.name, here, seed).latency_ms) << algorithm.name;
    }
    for (const char* split : {"split=none", "split=interleaved"}) {
      EXPECT_LE(best.latency_ms, run_cold("deepplan", here, seed, split).latency_ms) << split;
    }
    const CostModel costs = CostModel::from_graph(here.graph, here.platform);
    const Schedule greedy =
        greedy_submodels(Problem(costs, Objective::kColdStart),
                         Options(built_in().find("sortinghat").options), without_bound(seed));
    EXPECT_LE(best.latency_ms, simulate(here.graph, greedy, costs).latency_ms);
  }
}

TEST(ColdSearch, AnExpiredDeadlineEndsDeepplanAndBest) {
  const SearchCase here = search_case(7, 12, 1);
  const CostModel costs = CostModel::from_graph(here.graph, here.platform);
  Context context = without_bound(7);
  context.deadline = Deadline([] { return true; });
  for (const std::string name : {"deepplan", "best"}) {
    const Algorithm& algorithm = built_in().find(name);
    const ScheduleResult result =
        schedule_cold_start(algorithm, Problem(costs, Objective::kColdStart),
                            Options(algorithm.options), context, {0, "none"});
    EXPECT_EQ(result.outcome, Outcome::kTimeLimit) << name;
    const auto findings =
        validate(here.graph, here.platform, result.schedule, Objective::kColdStart);
    EXPECT_TRUE(findings.empty()) << name;
  }
}

TEST(ColdSearch, IsTheSameForASeedOnAnyNumberOfThreads) {
  const SearchCase here = search_case(11, 12, 1);
  const CostModel costs = CostModel::from_graph(here.graph, here.platform);
  const std::vector<Schedule> starts = {run_cold("pipelined", here, 1).schedule,
                                        run_cold("heft", here, 1).schedule};
  const auto found = [&](std::uint64_t seed, std::size_t threads) {
    return cold::search(costs, starts, {.iterations = 300, .islands = 3, .threads = threads}, 0,
                        without_bound(seed))
        .schedule;
  };
  EXPECT_EQ(found(1, 1), found(1, 3));
}

// Moves find the second device and its bus, which no start uses.
TEST(ColdSearch, ImprovesItsStarts) {
  std::size_t shorter = 0;
  for (std::uint64_t seed = 20; seed < 30; ++seed) {
    const SearchCase here = search_case(seed, 12, 1);
    const CostModel costs = CostModel::from_graph(here.graph, here.platform);
    const ScheduleResult start = run_cold("pipelined", here, seed);
    const auto found = cold::search(costs, {start.schedule}, {.iterations = 400, .islands = 2}, 0,
                                    without_bound(seed));
    const double ms = simulate(here.graph, found.schedule, costs).latency_ms;
    EXPECT_LE(ms, start.latency_ms) << "seed " << seed;
    shorter += ms < start.latency_ms;
  }
  EXPECT_GT(shorter, 5u);
}

TEST(ColdSearch, EndsAtTheBound) {
  const SearchCase here = search_case(5, 12, 1);
  const CostModel costs = CostModel::from_graph(here.graph, here.platform);
  const ScheduleResult start = run_cold("pipelined", here, 5);
  const auto found = cold::search(costs, {start.schedule}, {.iterations = 1000}, start.latency_ms,
                                  without_bound(5));
  EXPECT_TRUE(found.optimal);
  EXPECT_EQ(found.schedule, start.schedule);
}

}  // namespace
}  // namespace hios::scheduler
