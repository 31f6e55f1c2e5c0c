#include "scheduler/batches/divided.h"

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/batches/copies.h"
#include "scheduler/batches/dependency_bound.h"
#include "scheduler/batches/divided_case.h"
#include "scheduler/batches/every_division.h"
#include "scheduler/batches/join.h"
#include "scheduler/batches/sized_times.h"
#include "scheduler/milp/solver.h"
#include "scheduler/registry.h"
#include "scheduler/structures/numbers.h"
#include "support/graphs/random_batches.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

Options quick(const Algorithm& algorithm) {
  Options options(algorithm.options);
  if (options.has("iterations")) options.set("iterations=300");
  if (options.has("generations")) options.set("generations=3");
  return options;
}

DividedResult scheduled(const DividedCase& one, const Algorithm& algorithm) {
  Context context;
  context.bound = bound_of_every_division(one.problem());
  return schedule_divided(one.problem(), algorithm, quick(algorithm), context);
}

void expect_sound(const DividedCase& one, const DividedResult& made) {
  const auto& [division, result] = made;
  EXPECT_TRUE(validate(*division.graph, one.platform, result.schedule).empty());
  EXPECT_DOUBLE_EQ(simulate(*division.graph, result.schedule, *division.costs).latency_ms,
                   result.latency_ms);
  EXPECT_LE(result.lower_bound_ms, result.latency_ms * (1 + kRounding));
}

TEST(EveryDivision, BoundsAreBelowTheOptimumOfAll) {
  std::size_t greatest = 0, alone = 0;
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "divisions");
    const DividedCase one(2 + seed % 2, seed % 6 == 4 ? 3 : 2, 1 + seed % 3, random);
    const double least = least_of_all(one);
    const LowerBound bound = bound_of_every_division(one.problem());
    EXPECT_LE(bound.ms, least * (1 + kRounding));
    const DivisibleProblem problem = one.problem();
    const double dependencies = dependency_bound_ms(problem, SizedTimes(problem));
    EXPECT_LE(dependencies, least * (1 + kRounding));
    greatest += dependencies >= bound.ms * (1 - kRounding);
    alone += bound.name.starts_with("one part by ");
  }
  EXPECT_GE(greatest, test::tries(60u) / 12);
  EXPECT_GE(alone, test::tries(60u) / 12);
}

// A chain of two operators whose batches take as long for one input as for all: an input takes
// 4 + 2 ms by itself, but the work is (4 + 2) / 2 on two devices.
TEST(EveryDivision, WholeBatchesAreOnThePath) {
  Operator first, second;
  first.name = "a";
  second.name = "b";
  for (const char* device : {"gpu0", "gpu1"}) {
    first.time_by_size[device] = {{1, 4}, {2, 4}};
    second.time_by_size[device] = {{1, 2}, {2, 2}};
  }
  const Platform platform = test::devices(2, 1);
  const SizedGraphs graphs(Graph("chain", {first, second}, {Edge{OpId(0), OpId(1), 0, 0.0}}, {}, 2),
                           batch_sizes(2, std::int64_t{2}));
  const DivisibleProblem problem{&graphs, &platform, [&](const Graph& graph) {
                                   return CostModel::from_graph(graph, platform);
                                 }};
  EXPECT_DOUBLE_EQ(bound_of_every_division(problem).ms, 6);
}

TEST(Divided, EveryAlgorithmIsValidAndNotBelowTheOptimum) {
  for (std::uint64_t seed = 0; seed < test::tries(12u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "algorithms");
    const DividedCase one(3, 2, 2, random);
    const double least = least_of_all(one);
    for (const Algorithm& algorithm : built_in().all()) {
      if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
      if (algorithm.exact && milp::solvers().empty()) continue;    // it throws without a solver
      SCOPED_TRACE(algorithm.name);
      const DividedResult made = scheduled(one, algorithm);
      expect_sound(one, made);
      EXPECT_GE(made.result.latency_ms, least * (1 - kRounding));
      if (made.result.outcome == Outcome::kOptimal && algorithm.exact) {
        EXPECT_NEAR(made.result.latency_ms, least, 1e-5 * (1 + least));
      }
    }
  }
}

TEST(Divided, MilpIsTheOptimumOfAllDivisionsOfThreeOperatorsAndThreeInputs) {
  if (milp::solvers().empty()) return;  // minimal builds have no solver, and milp throws
  const Algorithm& algorithm = built_in().find("milp");
  for (std::uint64_t seed = 0; seed < test::tries(3u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "three");
    const DividedCase one(3, 3, 2, random);
    const double least = least_of_all(one);
    const DividedResult made = scheduled(one, algorithm);
    expect_sound(one, made);
    EXPECT_NEAR(made.result.latency_ms, least, 1e-5 * (1 + least));
    EXPECT_LE(made.result.lower_bound_ms, least * (1 + kRounding));
    EXPECT_GE(made.result.lower_bound_ms, least * (1 - 1e-5) - 1e-5);
    EXPECT_EQ(made.result.outcome, Outcome::kOptimal);
  }
}

TEST(Divided, WithoutTimeThereIsStillASchedule) {
  Random random(1, "no time");
  const DividedCase one(3, 3, 2, random);
  Context context;
  context.deadline = Deadline([] { return true; }, [] { return 0.0; }, 0);
  for (const Algorithm& algorithm : built_in().all()) {
    if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
    if (algorithm.exact && milp::solvers().empty()) continue;
    SCOPED_TRACE(algorithm.name);
    expect_sound(one, schedule_divided(one.problem(), algorithm, quick(algorithm), context));
  }
}

TEST(Divided, NeedsNoTimesForAllInputsAtOnce) {
  Operator op;
  op.name = "a";
  op.time_by_size["gpu0"] = {{1, 1}, {2, 1.5}};
  const Platform platform = test::devices(1, 1);
  const SizedGraphs graphs(Graph("few", {op}, {}, {}, 4), batch_sizes(4, std::int64_t{4}));
  const DivisibleProblem problem{&graphs, &platform, [&](const Graph& graph) {
                                   return CostModel::from_graph(graph, platform);
                                 }};
  Context context;
  context.bound = bound_of_every_division(problem);
  EXPECT_DOUBLE_EQ(context.bound->ms, 3);
  const Algorithm& heft = built_in().find("heft");
  const DividedResult made = schedule_divided(problem, heft, Options(heft.options), context);
  EXPECT_DOUBLE_EQ(made.result.latency_ms, 3);
  EXPECT_EQ(made.result.outcome, Outcome::kOptimal);
}

TEST(Copies, SharesAreValidAndNotBelowTheBound) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "copies");
    const DividedCase one(3, 6, 3, random);
    const auto made = copies(one.problem());
    if (!made) continue;
    EXPECT_TRUE(validate(*made->division.graph, one.platform, made->schedule).empty());
    for (const Edge& edge : made->division.graph->edges()) {
      EXPECT_EQ(made->division.graph->batch(edge.from).inputs,
                made->division.graph->batch(edge.to).inputs);
    }
    // The bound holds for every division, so for shares of inputs too.
    EXPECT_GE(made->latency_ms, bound_of_every_division(one.problem()).ms * (1 - kRounding));
  }
}

TEST(Copies, SharesFollowTheTimesOfDevices) {
  Operator op;
  op.name = "only";
  op.time_by_size["gpu0"] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}};
  op.time_by_size["gpu1"] = {{1, 3}, {2, 6}, {3, 9}, {4, 12}};
  const Platform platform = test::devices(2, 1);
  const SizedGraphs graphs(Graph("one", {op}, {}, {}, 4), batch_sizes(4, std::int64_t{4}));
  const DivisibleProblem problem{&graphs, &platform, [&](const Graph& graph) {
                                   return CostModel::from_graph(graph, platform);
                                 }};
  const auto made = copies(problem);
  ASSERT_TRUE(made);
  EXPECT_DOUBLE_EQ(made->latency_ms, 3) << "three on the faster device, one on the other";
}

TEST(JoinBatches, IsNeverLongerThanItsStart) {
  std::size_t shorter = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "joins");
    const DividedCase one(4, 4, 2, random);
    const DivisibleProblem problem = one.problem();
    Division division;
    try {
      division = make_division(problem, test::random_batches(one.graphs, random));
    } catch (const InputError&) {
      continue;
    }
    const ScheduleResult start = built_in().find("heft").run(
        Problem(*division.costs), Options(built_in().find("heft").options), {});
    const TimedDivision joined =
        join_batches(problem, {division, start.schedule, start.latency_ms}, {});
    EXPECT_TRUE(validate(*joined.division.graph, one.platform, joined.schedule).empty());
    EXPECT_DOUBLE_EQ(
        simulate(*joined.division.graph, joined.schedule, *joined.division.costs).latency_ms,
        joined.latency_ms);
    EXPECT_LE(joined.latency_ms, start.latency_ms);
    shorter += joined.latency_ms < start.latency_ms;
  }
  EXPECT_GT(shorter, 10u) << "it never finds a shorter one";
}

}  // namespace
}  // namespace hios::scheduler
