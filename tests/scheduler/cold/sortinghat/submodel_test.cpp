// The greedy assignment and the MILP of one submodel, against all assignments.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cold/sortinghat/submodel/submodel_greedy.h"
#include "scheduler/cold/sortinghat/submodel/submodel_program.h"
#include "scheduler/cold/sortinghat/submodel_case.h"
#include "scheduler/milp/solver.h"
#include "support/oracles/solvers.h"
#include "support/sanitized.h"

namespace hios::scheduler::sortinghat {
namespace {

constexpr double kFeasible = 1e-6;

/// Returns the least latency of all assignments.
double brute_force(const SubmodelProblem& problem, SubmodelAssignment assignment, std::size_t n) {
  if (n == problem.fixed_node(0)) {
    const auto times = times_of(problem, assignment);
    return times ? times->latency_ms : kInfinity;
  }
  double least_ms = kInfinity;
  for (SubgraphId j = problem.is_operator(n) ? 1 : 0; j <= problem.subgraphs(); ++j) {
    assignment.subgraph[n] = j;
    least_ms = std::min(least_ms, brute_force(problem, assignment, n + 1));
  }
  return least_ms;
}

class Submodel : public ::testing::TestWithParam<std::string> {
 protected:
  milp::Answer solve(const SubmodelProgram& program, const std::vector<double>& start) const {
    milp::Answer answer = milp::find_solver(GetParam())->solve(program.program(), start, {});
    check_answer(answer, program.program(), start);
    return answer;
  }
};

TEST_P(Submodel, MilpIsTheBestOfAllAssignments) {
  for (std::uint64_t seed = 0; seed < test::tries(15u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SubmodelCase random_case(seed, 1 + seed % 3, 2);
    const SubmodelProblem problem = random_case.problem();
    const auto greedy = greedy_assignment(problem);
    ASSERT_TRUE(greedy);
    const SubmodelTimes known = *times_of(problem, *greedy);
    const SubmodelProgram program(problem, known);
    EXPECT_LE(SubmodelProgram::least_terms(problem), program.program().terms);
    EXPECT_GE(SubmodelProgram::least_terms(problem), problem.subgraphs());
    const std::vector<double> start = program.values(*greedy, known);
    ASSERT_LE(milp::violation(program.program(), start), kFeasible);

    const milp::Answer answer = solve(program, start);
    ASSERT_EQ(answer.status, milp::Status::kOptimal) << answer.message;
    const auto times = times_of(problem, program.assignment(answer.values));
    ASSERT_TRUE(times);
    SubmodelAssignment none;
    none.subgraph.assign(problem.fixed_node(0), kUnplaced);
    const double least_ms = brute_force(problem, none, 0);
    // Earlier ends of lanes are worth a little latency.
    EXPECT_NEAR(times->latency_ms, least_ms, 2e-4 * (1 + known.latency_ms));
    EXPECT_LE(least_ms, known.latency_ms * (1 + 1e-9));
  }
}

// A search that is late ends with its first assignment, of the first device.
TEST(SubmodelGreedy, IsOfOneDeviceOnceTheDeadlineHasExpired) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SubmodelCase random_case(seed, 5, 2);
    const SubmodelProblem problem = random_case.problem();
    const auto late = greedy_assignment(problem, Deadline([] { return true; }));
    ASSERT_TRUE(late);
    EXPECT_TRUE(times_of(problem, *late));
    for (std::size_t v = 0; v < problem.operators.size(); ++v) {
      EXPECT_EQ(problem.device_of(late->subgraph[v]), 0u);
    }
  }
}

TEST_P(Submodel, TheNextOneKnowsTheStateOfTheFirst) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SubmodelCase random_case(seed, 6, 4);
    const auto order = random_case.graph.topological();
    double before_ms = 0;
    for (const std::size_t begin : {0, 2, 4}) {
      const SubmodelProblem problem =
          random_case.planned->next({order.begin() + begin, order.begin() + begin + 2});
      const auto greedy = greedy_assignment(problem);
      ASSERT_TRUE(greedy);
      const SubmodelTimes times = *times_of(problem, *greedy);
      EXPECT_GE(times.latency_ms, before_ms);
      const SubmodelProgram program(problem, times);
      ASSERT_LE(milp::violation(program.program(), program.values(*greedy, times)), kFeasible);
      random_case.planned->fix(problem, *greedy, times);
      before_ms = times.latency_ms;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, Submodel, ::testing::ValuesIn(test::solver_names()),
                         [](const auto& solver) { return solver.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Submodel);

}  // namespace
}  // namespace hios::scheduler::sortinghat
