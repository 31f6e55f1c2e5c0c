#include "scheduler/best/starts/class_start.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/best/starts/start_latencies.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/bounds/classes/fractional_placement.h"
#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/sanitized.h"

namespace hios::scheduler::best {
namespace {

double class_start_ms(const RandomProblem& problem, double known_ms) {
  return start_ms(problem, [&](const CostModel& costs) {
    return schedule_by_classes(problem.graph, costs, known_ms, {});
  });
}

TEST(ClassStart, IsNearTheBoundWhereMemoryIsTightAndDevicesDiffer) {
  for (std::uint64_t seed = 0; seed < test::tries(3u); ++seed) {
    const std::string words =
        "n=400,layers=10,edges=800,speeds=1x2:0.6x2:0.3x2,spread=0.5,memory=1.04,seed=" +
        std::to_string(seed);
    SCOPED_TRACE(words);
    const RandomProblem problem = random_problem(parse_random_dag(words), test::devices(6, 1));
    const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
    const double known_ms = heft_ms(problem), ms = class_start_ms(problem, known_ms);
    EXPECT_LT(ms, 0.9 * known_ms);
    EXPECT_LT(ms, 1.2 * lower_bound(problem.graph, costs).ms);
  }
}

TEST(ClassStart, RespectsLabelsAndAllowedDevices) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < test::tries(12u); ++seed) {
    const std::string words =
        "n=40,layers=6,edges=70,speeds=1:0.6:0.3,spread=0.4,memory=1.3,colocate=0.3,allowed=0.2,"
        "seed=" +
        std::to_string(seed);
    SCOPED_TRACE(words);
    const RandomProblem problem = random_problem(parse_random_dag(words), test::devices(3, 2));
    try {
      class_start_ms(problem, 1e4);
      ++found;
    } catch (const InputError&) {
      continue;  // no start; the number of starts is checked below
    }
  }
  EXPECT_GE(found, static_cast<int>(test::tries(8u)));
}

TEST(ClassStart, EveryOperatorIsDividedAmongItsClasses) {
  const RandomProblem problem = random_problem(
      parse_random_dag("n=60,layers=6,edges=100,speeds=1x2:0.5:0.2"), test::devices(4, 1));
  const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
  const auto placement = fractional_placement(problem.graph, costs, heft_ms(problem), 0, {});
  ASSERT_TRUE(placement);
  ASSERT_EQ(placement->classes.size(), 3u);
  EXPECT_EQ(placement->classes.front().size(), 2u);
  for (std::size_t i = 0; i < problem.graph.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < placement->classes.size(); ++k) {
      EXPECT_GE(placement->share(OpId(i), k), 0);
      sum += placement->share(OpId(i), k);
    }
    EXPECT_NEAR(sum, 1, 1e-9);
  }
  EXPECT_FALSE(fractional_placement(problem.graph, costs, 1e3, 0, Deadline([] { return true; })));
}

TEST(ClassStart, IsRefusedOnEqualDevices) {
  const RandomProblem problem = random_problem(parse_random_dag("n=20"), test::devices(3, 1));
  const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
  test::expect_error([&] { schedule_by_classes(problem.graph, costs, 1e3, {}); }, {"classes"});
}

}  // namespace
}  // namespace hios::scheduler::best
