#include <array>
#include <string>

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/best/best.h"
#include "scheduler/best/starts/memory_starts.h"
#include "scheduler/bounds/bounds.h"
#include "support/expect_error.h"
#include "support/graphs/tight_memory.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/exact_placement.h"
#include "support/sanitized.h"

// The search where memory hardly suffices, judged by an exact search over all placements.

namespace hios::scheduler::best {
namespace {

using test::kOracleRounding;

constexpr std::array kSpare{0.0, 0.01, 0.02, 0.05};

double searched_ms(const test::TightProblem& problem, std::int64_t iterations) {
  const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
  BestOptions options;
  options.iterations = iterations;
  const double bound = lower_bound(problem.graph, costs).ms;
  const BestResult result = search(problem.graph, costs, options, bound, {});
  EXPECT_TRUE(validate(problem.graph, problem.platform, result.schedule).empty());
  EXPECT_EQ(result.latency_ms, simulate(problem.graph, result.schedule, costs).latency_ms);
  return result.latency_ms;
}

double least_ms(const test::TightProblem& problem) {
  return test::exact_placement(problem.graph, problem.platform,
                               test::plain_costs_of(problem.graph, problem.platform))
      .latency_ms;
}

TEST(TightMemory, ExactPlacementAgreesWithBruteForce) {
  for (std::uint64_t seed = 0; seed < test::tries(120u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const double spare = seed % 5 == 4 ? 1 : kSpare[seed % 5];
    const test::TightProblem problem = test::tight_problem(3 + seed % 4, spare, seed);
    const double least = test::brute_force(problem.graph, problem.platform,
                                           test::plain_costs_of(problem.graph, problem.platform))
                             .latency_ms;
    EXPECT_NEAR(least_ms(problem), least, least * kOracleRounding);
  }
}

TEST(TightMemory, TheSearchFindsTheOptimumAndNeverFarFromIt) {
  int all = 0, optimal = 0;
  for (std::uint64_t seed = 0; seed < test::tries(18u); ++seed) {
    for (double spare : kSpare) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", spare " + std::to_string(spare));
      const test::TightProblem problem = test::tight_problem(8 + seed % 7, spare, seed);
      const double least = least_ms(problem), found = searched_ms(problem, 30'000);
      EXPECT_GE(found, least * (1 - kOracleRounding));
      EXPECT_LE(found, least * 1.02);
      ++all;
      optimal += found <= least * (1 + kOracleRounding);
    }
  }
  EXPECT_GE(optimal, 0.98 * all) << optimal << " of " << all;
}

TEST(TightMemory, DevicesFilledInOrderRespectEveryConstraint) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const test::TightProblem problem = test::tight_problem(10 + seed, 0.05, seed);
    const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
    try {
      const Schedule schedule =
          fill_in_order(problem.graph, costs, Deadline([&] { return seed % 2 == 0; }));
      EXPECT_TRUE(validate(problem.graph, problem.platform, schedule).empty());
      ++found;
    } catch (const InputError&) {
      continue;  // no start; the number of starts is checked below
    }
  }
  EXPECT_GE(found, 90);
}

TEST(TightMemory, ASlowDeviceGetsTheOperatorsThatLoseLeastThere) {
  std::vector<Operator> operators(6);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = "v" + std::to_string(i);
    operators[i].memory_bytes = 10;
    operators[i].time_by_device = {{"gpu0", 1}, {"gpu1", 1}, {"cpu", i == 2 || i == 4 ? 1.5 : 100}};
  }
  const Graph graph("slow", operators, {});
  const Platform platform(
      {{"gpu0", "gpu", 0, 1, 20, ""}, {"gpu1", "gpu", 0, 1, 20, ""}, {"cpu", "cpu", 1, 1, 0, ""}});
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule schedule = fill_in_order(graph, costs, {});
  EXPECT_TRUE(validate(graph, platform, schedule).empty());
  EXPECT_EQ(simulate(graph, schedule, costs).latency_ms, 3);
}

TEST(TightMemory, NothingIsFilledIfADeviceHoldsAll) {
  const test::TightProblem problem = test::tight_problem(10, 20, 1);
  const Platform platform({{"gpu0", "gpu", 0, 1, 1'000'000, ""}, {"gpu1", "gpu", 0, 1, 0, ""}});
  const CostModel costs = CostModel::from_graph(problem.graph, platform);
  test::expect_error([&] { fill_in_order(problem.graph, costs, {}); }, {"memory"});
}

}  // namespace
}  // namespace hios::scheduler::best
