#include "scheduler/split/modules/module_bounds.h"
#include "hios/graph/random/random_dag_text.h"

#include <gtest/gtest.h>

#include "hios/graph/random/random_dag.h"
#include "scheduler/milp/solver.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/slow_simulator.h"
#include "support/sanitized.h"

// Bounds added up from modules are never above the optimum of brute force.

namespace hios::scheduler::split {
namespace {

/// The bound over the optimum.
double share(const Graph& graph, const Platform& platform, std::size_t channels) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  const double least = test::brute_force(graph, platform, test::plain_costs_of(costs)).latency_ms;
  milp::MilpOptions options;
  options.solver = milp::find_solver("any");
  options.iterations = 20;
  Prover prover(options, {});
  const std::size_t sizes[] = {1, 2, 3, 4};
  const double bound = module_bound_ms(costs, channels, prover, sizes);
  EXPECT_LE(bound, least * (1 + 1e-9));
  return least > 0 ? bound / least : 1;
}

TEST(ModuleBounds, AreNeverAboveTheOptimumOfModules) {
  if (milp::solvers().empty()) GTEST_SKIP() << "this build found no solver";
  double sum = 0;
  std::size_t count = 0;
  for (std::uint64_t seed = 0; seed < test::tries(20u); ++seed) {
    for (const char* shape :
         {"modules=3,nodes=2", "modules=2,nodes=3", "modules=1,nodes=6", "modules=6,nodes=1",
          "family=modules,modules=1,nodes=7,channels=2,ends=weak",
          "modules=1,nodes=6,channels=3,ends=weak,wiring=ba2"}) {
      const std::string words = std::string(shape) + ",seed=" + std::to_string(seed);
      SCOPED_TRACE(words);
      const RandomProblem problem = random_problem(parse_random_dag(words), test::devices(2, 1));
      sum += share(problem.graph, problem.platform, 1 + seed % 3);
      ++count;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(sum / static_cast<double>(count), 0.85) << "a bound of 0 would be valid, too";
}

TEST(ModuleBounds, AreNeverAboveTheOptimumOfAnyDag) {
  if (milp::solvers().empty()) GTEST_SKIP() << "this build found no solver";
  for (std::uint64_t seed = 0; seed < test::tries(150u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "part bounds");
    test::CostStyle style;
    style.overlap = false;
    style.small_integers = seed % 3 == 0;
    style.by_device = seed % 2 == 0;
    const Graph graph = test::dag(5 + seed % 2, random.below(1 << 10), style, random);
    share(graph, test::devices(2 + seed % 2, 1), 1 + seed % 3);
    if (HasFailure()) return;
  }
}

TEST(ModuleBounds, RespectMemoryAndLabels) {
  if (milp::solvers().empty()) GTEST_SKIP() << "this build found no solver";
  for (std::uint64_t seed = 0; seed < test::tries(30u); ++seed) {
    const std::string words =
        "n=6,family=dense,speeds=1:0.5,memory=1.1,colocate=0.5,seed=" + std::to_string(seed);
    SCOPED_TRACE(words);
    const RandomProblem problem = random_problem(parse_random_dag(words), test::devices(2, 1));
    share(problem.graph, problem.platform, 2);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace hios::scheduler::split
