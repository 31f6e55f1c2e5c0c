// Times of assignments that grow, against those of whole assignments.
#include "scheduler/cold/sortinghat/submodel/growing_times.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/cold/sortinghat/submodel/submodel_greedy.h"
#include "scheduler/cold/sortinghat/submodel_case.h"
#include "scheduler/structures/numbers.h"
#include "support/sanitized.h"

namespace hios::scheduler::sortinghat {
namespace {

using Step = GrowingTimes::Step;

/// Returns the steps that a search may take, and some that break a constraint.
std::vector<Step> steps(const SubmodelProblem& problem, const GrowingTimes& growing) {
  std::vector<Step> all;
  for (SubgraphId j = 1; j <= problem.subgraphs(); ++j) {
    if (problem.in_place(j) || !growing.may_load()) {
      all.push_back({j});
      continue;
    }
    for (SubgraphId load = 1; load <= problem.subgraphs(); ++load) all.push_back({j, load});
  }
  return all;
}

SubmodelAssignment with(const SubmodelProblem& problem, SubmodelAssignment assignment,
                        std::size_t v, const Step& step) {
  assignment.subgraph[v] = step.subgraph;
  const auto& reads = problem.operators[v].reads;
  if (!reads || problem.is_fixed(*reads)) return assignment;
  SubgraphId& parameters = assignment.subgraph[*reads];
  if (step.load) parameters = *step.load;
  if (parameters == kUnplaced) parameters = 0;
  return assignment;
}

/// Takes random steps to the end, or to an operator that none is left for; adds the number of steps
/// that were compared and had times.
void grow(const SubmodelProblem& problem, Random& random, std::size_t& compared) {
  GrowingTimes growing(problem);
  for (std::size_t v = 0; v < problem.operators.size(); ++v) {
    std::vector<Step> possible;
    for (const Step& step : steps(problem, growing)) {
      const auto whole = times_of(problem, with(problem, growing.assignment(), v, step));
      const double least_ms = growing.least_end_ms(step);
      const auto grown = growing.with(step);
      ASSERT_EQ(whole.has_value(), grown.has_value()) << "operator " << v;
      if (!whole) continue;
      const double end_ms = whole->end_ms[step.subgraph], rounding_ms = 1e-12 * (1 + end_ms);
      ASSERT_NEAR(grown->end_ms, end_ms, rounding_ms);
      ASSERT_NEAR(grown->latency_ms, whole->latency_ms, 1e-12 * (1 + whole->latency_ms));
      ASSERT_NEAR(grown->lanes_end_ms, whole->lanes_end_ms, 1e-12 * (1 + whole->lanes_end_ms));
      ASSERT_LE(least_ms, end_ms + rounding_ms);
      possible.push_back(step);
      ++compared;
    }
    if (possible.empty()) return;
    const Step& step = possible[random.below(possible.size())];
    const SubmodelAssignment expected = with(problem, growing.assignment(), v, step);
    growing.take(step);
    ASSERT_EQ(growing.assignment(), expected);
  }
}

SubmodelProblem with_little_memory(SubmodelProblem problem, Random& random) {
  Bytes all = 0;
  for (const Bytes bytes : problem.bytes) all += bytes;
  for (auto& room : problem.room_bytes) room = random.below(all + 1);
  return problem;
}

TEST(GrowingTimes, AreThoseOfTheWholeAssignment) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SubmodelCase random_case(seed, 7, 4);
    const auto order = random_case.graph.topological();
    for (const std::size_t begin : {0, 3}) {
      const SubmodelProblem problem =
          random_case.planned->next({order.begin() + begin, order.begin() + (begin == 0 ? 3 : 7)});
      grow(problem, random_case.random, compared);
      grow(with_little_memory(problem, random_case.random), random_case.random, compared);
      const auto greedy = greedy_assignment(problem);
      ASSERT_TRUE(greedy);
      random_case.planned->fix(problem, *greedy, *times_of(problem, *greedy));
    }
  }
  EXPECT_GT(compared, 100u);
}

}  // namespace
}  // namespace hios::scheduler::sortinghat
