#include "scheduler/split/split.h"
#include "hios/graph/random/random_dag_text.h"

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/milp/solver.h"
#include "scheduler/registry.h"
#include "scheduler/split/independent.h"
#include "scheduler/split/modules/chain.h"
#include "scheduler/split/modules/modules.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/slow_simulator.h"
#include "support/oracles/solvers.h"
#include "support/sanitized.h"

namespace hios::scheduler::split {
namespace {

using test::kSolverTolerance;
using test::unlike_devices;

SplitResult solved_by_modules(const Graph& graph, const CostModel& costs,
                              const milp::Solver& solver, const Context& context = {}) {
  SplitOptions options;
  options.solving.solver = &solver;
  options.solving.iterations = 50;  // a start that is not the optimum already
  options.solving.nodes = 500;
  return schedule_by_modules(graph, costs, options, context);
}

double latency_ms(const SplitResult& result, const CostModel& costs) {
  EXPECT_TRUE(validate(costs.graph(), costs.platform(), result.schedule).empty());
  return simulate(costs.graph(), result.schedule, costs).latency_ms;
}

class MilpSplit : public ::testing::TestWithParam<std::string> {
 protected:
  const milp::Solver& solver() const { return *milp::find_solver(GetParam()); }
};

/// Checks that neither schedule nor bound beats brute force, and that a proved schedule is optimal.
void judge_split(const RandomProblem& problem, const milp::Solver& solver, bool must_prove) {
  const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
  const double least =
      test::brute_force(problem.graph, problem.platform, test::plain_costs_of(costs)).latency_ms;
  const SplitResult result = solved_by_modules(problem.graph, costs, solver);
  EXPECT_GE(latency_ms(result, costs), least * (1 - 1e-9));
  if (must_prove) {
    EXPECT_TRUE(result.optimal);
  }
  if (result.optimal) {
    EXPECT_NEAR(latency_ms(result, costs), least, kSolverTolerance * least);
  }
  if (result.bound) {
    EXPECT_LE(result.bound->ms, least * (1 + 1e-9));
  }
}

TEST_P(MilpSplit, IsTheOptimumOfModulesInARow) {
  for (std::uint64_t seed = 0; seed < test::tries(12u); ++seed) {
    for (const char* shape : {"modules=3,nodes=2", "modules=2,nodes=3,wiring=er0.4",
                              "modules=1,nodes=6", "modules=6,nodes=1"}) {
      const std::string words = std::string(shape) + ",seed=" + std::to_string(seed);
      SCOPED_TRACE(words);
      judge_split(random_problem(parse_random_dag(words), test::devices(2, 1)), solver(), true);
      judge_split(random_problem(parse_random_dag(words), unlike_devices()), solver(), true);
      if (HasFailure()) return;
    }
  }
}

// The chain of modules breaks what couples them; what is left is a bound, and windows.
TEST_P(MilpSplit, KeepsMemoryAndLabelsThatCoupleModules) {
  for (std::uint64_t seed = 0; seed < test::tries(30u); ++seed) {
    const char* ties = seed % 2 == 0 ? ",memory=1.02" : ",memory=1.3,colocate=0.7";
    const std::string words = "modules=2,nodes=3,seed=" + std::to_string(seed) + ties;
    SCOPED_TRACE(words);
    judge_split(random_problem(parse_random_dag(words), test::devices(2, 1)), solver(), false);
    if (HasFailure()) return;
  }
}

TEST_P(MilpSplit, IsNotBelowTheOptimumOfAnyDag) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "split");
    test::CostStyle style;
    style.overlap = seed % 2 == 0;
    style.by_device = seed % 3 == 0;
    const Graph graph = test::dag(5, random.below(1 << 10), style, random);
    judge_split({graph, test::devices(2, 1 + static_cast<int>(seed % 3))}, solver(), false);
    if (HasFailure()) return;
  }
}

TEST_P(MilpSplit, IsWhatMilpProves) {
  for (std::uint64_t seed = 0; seed < test::tries(4u); ++seed) {
    const std::string words = "modules=3,nodes=5,seed=" + std::to_string(seed);
    SCOPED_TRACE(words);
    const RandomProblem problem = random_problem(parse_random_dag(words), unlike_devices());
    const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
    milp::MilpOptions options;
    options.solver = &solver();
    options.iterations = 50;
    const milp::MilpResult whole = milp::schedule_exactly(problem.graph, costs, options, {});
    ASSERT_TRUE(whole.optimal);
    const double ms = simulate(problem.graph, whole.schedule, costs).latency_ms;
    const SplitResult result = solved_by_modules(problem.graph, costs, solver());
    EXPECT_TRUE(result.optimal);
    EXPECT_NEAR(latency_ms(result, costs), ms, kSolverTolerance * ms);
    EXPECT_EQ(result.schedule, solved_by_modules(problem.graph, costs, solver()).schedule);
  }
}

/// Diamonds in a row, all alike: a fork, two parallel operators, and a join that is the next fork.
Graph diamonds(std::size_t count) {
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  const auto add = [&](double ms) {
    Operator op;
    op.name = "v" + std::to_string(operators.size());
    op.time_by_device = {{"gpu0", ms}, {"gpu1", ms + 0.5}};
    operators.push_back(op);
    return OpId(operators.size() - 1);
  };
  OpId fork = add(1);
  for (std::size_t i = 0; i < count; ++i) {
    const OpId left = add(3), right = add(2), join = add(1);
    for (OpId side : {left, right}) {
      edges.push_back({fork, side, 0, 0.2});
      edges.push_back({side, join, 0, 0.3});
    }
    fork = join;
  }
  return Graph("diamonds", operators, edges);
}

TEST_P(MilpSplit, EqualModulesAreSolvedOnce) {
  const Graph graph = diamonds(12);
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const auto modules = modules_of(graph);
  EXPECT_EQ(modules.size(), 12u);
  milp::MilpOptions options;
  options.solver = &solver();
  options.iterations = 50;
  Prover prover(options, {});
  const ChainResult result = shortest_chain(costs, modules, 1e9, prover, {});
  EXPECT_TRUE(result.optimal);
  EXPECT_LE(prover.solved(), 4u) << "a problem for each two devices, however many modules";
}

// Windows and the bound of parts, where several tensors pass.
TEST_P(MilpSplit, IsNeverAboveItsStartWithSeveralChannels) {
  for (std::uint64_t seed = 0; seed < test::tries(3u); ++seed) {
    for (const auto contention : {hios::Contention::kNone, hios::Contention::kPort}) {
      const std::string words = "modules=3,nodes=6,channels=2,seed=" + std::to_string(seed);
      SCOPED_TRACE(words);
      const RandomProblem problem =
          random_problem(parse_random_dag(words), unlike_devices(contention));
      const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
      const Algorithm& best = built_in().find("best");
      Options moves(best.options);
      moves.set("iterations=50");
      const double start = best.run(Problem(costs), moves, {}).latency_ms;
      const SplitResult result = solved_by_modules(problem.graph, costs, solver());
      EXPECT_LE(latency_ms(result, costs), start);
      ASSERT_TRUE(result.bound.has_value());
      EXPECT_LE(result.bound->ms, latency_ms(result, costs));
    }
  }
}

// DiviML as printed: the modules' schedules one after the other.
TEST_P(MilpSplit, ByComponentsIsValidAndNotBelowTheOptimum) {
  std::size_t longer = 0;
  for (std::uint64_t seed = 0; seed < test::tries(20u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "components");
    test::CostStyle style;
    style.by_device = seed % 2 == 0;
    style.overlap = false;
    const RandomProblem problem{test::dag(6, random.below(1 << 15), style, random),
                                test::devices(2, 1)};
    const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
    const double least =
        test::brute_force(problem.graph, problem.platform, test::plain_costs_of(costs)).latency_ms;
    Prover prover({.solver = &solver(), .nodes = 500, .iterations = 50}, {});
    const auto schedule = schedule_independently(costs, 2, prover, 3);
    ASSERT_TRUE(schedule.has_value());
    EXPECT_TRUE(validate(problem.graph, problem.platform, *schedule).empty());
    const double ms = simulate(problem.graph, *schedule, costs).latency_ms;
    EXPECT_GE(ms, least * (1 - 1e-9));
    longer += ms > least * (1 + 1e-9) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(longer, 0u) << "modules by themselves know nothing of their inputs";
}

// Labels tie operators of several modules, so that a module alone may take a device that another
// one has promised otherwise.
TEST_P(MilpSplit, ByComponentsWarnsWhereTheModulesAreNotValidTogether) {
  const RandomProblem problem = random_problem(
      parse_random_dag("modules=3,nodes=14,channels=2,wiring=er0.4,seed=1,colocate=0.3"),
      unlike_devices());
  const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
  const Algorithm& algorithm = built_in().find("milp-split");
  Options options(algorithm.options);
  for (const char* const option : {"modules=components", "iterations=2000", "nodes=500"})
    options.set(option);
  options.set("solver=" + GetParam());
  const ScheduleResult result = algorithm.run(Problem(costs), options, {});
  EXPECT_TRUE(validate(problem.graph, problem.platform, result.schedule).empty());
  EXPECT_NE(result.warning.find("valid together"), std::string::npos) << result.warning;
}

TEST(Division, HasTwoNames) {
  EXPECT_EQ(division_named("windows"), Division::kWindows);
  EXPECT_EQ(division_named("components"), Division::kComponents);
  EXPECT_THROW(division_named("bridges"), InputError);
}

TEST_P(MilpSplit, OutOfTimeIsTheBestSoFar) {
  const RandomProblem problem =
      random_problem(parse_random_dag("modules=4,nodes=8,channels=2"), unlike_devices());
  const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
  Context late;
  late.deadline = Deadline([] { return true; });
  const SplitResult result = solved_by_modules(problem.graph, costs, solver(), late);
  EXPECT_FALSE(result.optimal);
  EXPECT_TRUE(result.timed_out);
  EXPECT_GT(latency_ms(result, costs), 0);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MilpSplit);
INSTANTIATE_TEST_SUITE_P(Solvers, MilpSplit, ::testing::ValuesIn(test::solver_names()),
                         [](const auto& named) { return named.param; });

TEST(Modules, LieBetweenOperatorsOnAllPaths) {
  const auto modules = modules_of(diamonds(2));
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].entry, OpId(0));
  EXPECT_EQ(modules[0].exit, OpId(3));
  EXPECT_EQ(modules[0].between, (std::vector<OpId>{OpId(1), OpId(2)}));
  EXPECT_EQ(modules[1].entry, OpId(3));
  EXPECT_EQ(modules[1].exit, OpId(6));
  const auto one = modules_of(test::small_graph({1, 2}, {}));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_FALSE(one[0].entry || one[0].exit);
  EXPECT_EQ(modules_of(test::small_graph({1}, {})).size(), 1u);
}

TEST(Modules, CutsWhereFewTensorsPass) {
  const Graph graph = diamonds(4);
  EXPECT_EQ(cuts_along(graph, graph.topological(), 5, 1), (std::vector<std::size_t>{4, 7, 10, 13}));
  EXPECT_EQ(cuts_along(graph, graph.topological(), 100, 1), (std::vector<std::size_t>{13}));
}

}  // namespace
}  // namespace hios::scheduler::split
