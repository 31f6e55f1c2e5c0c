#include "scheduler/pipeline/period_bounds.h"

#include <gtest/gtest.h>

#include <string>

#include "hios/base/error.h"
#include "hios/evaluate/blocks.h"
#include "scheduler/milp/solver.h"
#include "scheduler/pipeline/slicing/slice_graph.h"
#include "scheduler/structures/numbers.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/pipeline_cases.h"
#include "support/sanitized.h"

namespace hios::scheduler::pipeline {
namespace {

using test::PipelineCase;
using test::plain_optimum_ms;
using test::random_case;

constexpr double kTolerance = 4e-6;  // tolerance of solvers

bool has_solver() { return milp::find_solver("any") != nullptr; }

/// Fast memory that parameters alone overfill, which the programs model exactly.
PipelineCase without_tensors(const PipelineCase& made) {
  std::vector<Operator> ops(made.graph.operators().begin(), made.graph.operators().end());
  std::vector<Edge> edges(made.graph.edges().begin(), made.graph.edges().end());
  for (Operator& op : ops) op.memory_bytes = 0;
  for (Edge& edge : edges) edge.size_bytes = 0;
  return {Graph("case", std::move(ops), std::move(edges)), made.platform};
}

struct Bounds {
  double simple, bottleneck, guess, exact, down_sets;
};

Bounds all_bounds_of(const PipelineCase& made, const CostModel& costs,
                     const PeriodKnowledge& known) {
  const auto ms = [&](PeriodBound which) {
    const PeriodBoundResult found = period_bound(which, made.graph, costs, known);
    EXPECT_TRUE(found.remark.empty()) << to_string(which) << ": " << found.remark;
    EXPECT_EQ(found.bound.name, to_string(which));
    return found.bound.ms;
  };
  return {ms(PeriodBound::kSimple), ms(PeriodBound::kBottleneck), ms(PeriodBound::kBottleneckGuess),
          ms(PeriodBound::kExact), ms(PeriodBound::kDownSets)};
}

/// Checks that each bound is at least as close as the one before, and none above `period_ms`.
void expect_in_order(const Bounds& bounds, double period_ms) {
  const double slack = kTolerance * (1 + bounds.exact);
  EXPECT_LE(bounds.simple, bounds.bottleneck + slack);
  EXPECT_LE(bounds.bottleneck, bounds.guess + slack);
  EXPECT_LE(bounds.guess, bounds.exact + slack);
  EXPECT_LE(bounds.exact, bounds.down_sets + slack);
  EXPECT_LE(bounds.exact, period_ms + kRounding);
  EXPECT_LE(bounds.down_sets, period_ms + kRounding);
}

TEST(PeriodBounds, AreTheOptimumForParametersAlone) {
  if (!has_solver()) GTEST_SKIP() << "this build has no solver of linear programs";
  constexpr std::uint64_t kSeed = 31;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  int possible = 0;
  for (int round = 0; round < test::tries(60); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made = without_tensors(
        random_case(1 + random.below(6), 1 + random.below(3),
                    {.overflow = random.below(2) == 0, .limits = random.below(2) == 0}, random));
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const double optimum = plain_optimum_ms(made, costs);
    if (optimum == kInfinity) continue;
    ++possible;
    const Bounds bounds = all_bounds_of(made, costs, {});
    expect_in_order(bounds, optimum);
    EXPECT_NEAR(bounds.exact, optimum, kTolerance * (1 + optimum));
    EXPECT_NEAR(bounds.down_sets, optimum, kRounding);
    const PipelineProblem problem(made.graph, costs);
    const Slicing slicing = Slicer(problem).slice(problem.given_order());
    if (slicing.period_ms == kInfinity) continue;
    // A known schedule restricts the search and changes no result.
    const Schedule known = schedule_of(problem, problem.given_order(), slicing);
    const Bounds below = all_bounds_of(
        made, costs, {.known_ms = period_of(made.graph, known, costs).ms(), .known = &known});
    expect_in_order(below, optimum);
    EXPECT_NEAR(below.exact, optimum, kTolerance * (1 + optimum));
    EXPECT_NEAR(below.down_sets, optimum, kRounding);
  }
  EXPECT_GT(possible, test::tries(25));
}

TEST(PeriodBounds, StayBelowBlocksWhoseTensorsFillFastMemory) {
  if (!has_solver()) GTEST_SKIP() << "this build has no solver of linear programs";
  constexpr std::uint64_t kSeed = 32;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < test::tries(40); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made =
        random_case(1 + random.below(6), 1 + random.below(3),
                    {.overflow = true, .limits = random.below(3) == 0}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const double optimum = plain_optimum_ms(made, costs);
    if (optimum < kInfinity) expect_in_order(all_bounds_of(made, costs, {}), optimum);
  }
}

TEST(PeriodBounds, StayBelowStagesOfSeveralGroups) {
  if (!has_solver()) GTEST_SKIP() << "this build has no solver of linear programs";
  constexpr std::uint64_t kSeed = 33;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  int compared = 0;
  for (int round = 0; round < test::tries(15); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    PipelineCase made{test::random_graph(3 + random.below(4), 0.4, {.overlap = true}, random),
                      test::devices(1 + random.below(3), 3)};
    std::optional<Profile> profile;
    if (random.below(2) == 0) profile = test::random_profile(made.graph, made.platform, random);
    const CostModel costs = profile ? CostModel::from_profile(made.graph, made.platform, *profile)
                                    : CostModel::from_graph(made.graph, made.platform);
    const Bounds bounds = all_bounds_of(made, costs, {});
    for (int i = 0; i < 200; ++i) {
      const Schedule schedule = test::random_schedule(made.graph, made.platform, random);
      if (!cycle_of_blocks(made.graph, schedule).empty()) continue;
      ++compared;
      expect_in_order(bounds, period_of(made.graph, schedule, costs).ms());
    }
  }
  EXPECT_GT(compared, test::tries(250));
}

TEST(PeriodBounds, EndedEarlyAreStillBounds) {
  constexpr std::uint64_t kSeed = 34;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < test::tries(8); ++round) {
    const PipelineCase made = random_case(40, 3, {}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const Schedule known =
        slice_graph(made.graph, costs, {.order = OrderSearch::kGiven}, 1, {}).schedule;
    const double known_ms = period_of(made.graph, known, costs).ms();
    int asked = 0;
    const int most = static_cast<int>(random.below(5));
    for (const PeriodBound which : period_bounds_named({"all"})) {
      const PeriodBoundResult found =
          period_bound(which, made.graph, costs,
                       {.known_ms = known_ms,
                        .known = &known,
                        .deadline = Deadline([&] { return ++asked > most; },
                                             [&] { return asked > most ? 1.0 : 0.0; }, 1)});
      EXPECT_GE(found.bound.ms, simple_period_bound(made.graph, costs).ms);
      EXPECT_LE(found.bound.ms, known_ms + kRounding);
    }
  }
}

TEST(PeriodBounds, ReportAMissingSolver) {
  Random random(1);
  const PipelineCase made = random_case(5, 2, {}, random);
  const CostModel costs = CostModel::from_graph(made.graph, made.platform);
  for (const PeriodBound which : period_bounds_named({"all"})) {
    const PeriodBoundResult found = period_bound(which, made.graph, costs, {});
    const bool needs_one = which != PeriodBound::kSimple && which != PeriodBound::kDownSets;
    EXPECT_EQ(found.remark.find("no solver") != std::string::npos, needs_one && !has_solver());
    EXPECT_GE(found.bound.ms, simple_period_bound(made.graph, costs).ms);
  }
}

TEST(PeriodBounds, AreNamed) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(period_bounds_named(Names{"all"}).size(), 5u);
  EXPECT_EQ(period_bounds_named(Names{"exact", "simple", "exact"}),
            (std::vector<PeriodBound>{PeriodBound::kSimple, PeriodBound::kExact}));
  EXPECT_THROW(period_bounds_named(Names{"closest"}), InputError);
}

TEST(PeriodBounds, AreZeroForAnEmptyGraph) {
  const Graph graph("empty", {}, {});
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  for (const PeriodBound which : period_bounds_named({"all"}))
    EXPECT_EQ(period_bound(which, graph, costs, {}).bound.ms, 0);
}

}  // namespace
}  // namespace hios::scheduler::pipeline
