#include "scheduler/cold/search/plain_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/validate.h"
#include "scheduler/cold/search/plan_moves.h"
#include "scheduler/registry.h"
#include "scheduler/scheduler.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"

namespace hios::scheduler::cold {
namespace {

/// Counts what a plan has of what plainer() takes back.
std::size_t fancies(const ColdPlan& plan) {
  const auto relays = std::ranges::count_if(plan.relay, [](const auto& each) { return !!each; });
  const auto shifts = std::ranges::count_if(plan.shift, [](auto each) { return each != 0; });
  return static_cast<std::size_t>(relays + shifts) + plan.lanes_of_route - 1 + plan.shared_lanes;
}

/// Returns the operators of a plan whose stages have one each.
std::vector<OpId> operators_of(const ColdPlan& plan) {
  std::vector<OpId> operators;
  for (const PlacedStage& placed : plan.stages)
    operators.push_back(placed.stage.groups.front().front());
  return operators;
}

TEST(PlainPlan, TakesBackWhatDoesNotHelp) {
  std::size_t fewer = 0, ordered = 0;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "plain plans");
    const Graph graph = test::with_parameters(
        test::random_graph(1 + random.below(12), random.uniform(0, 0.5), {}, random), false,
        random);
    const Platform platform = test::random_topology(1 + random.below(3), 1, false, random);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const PlanProblem problem(costs);
    ColdPlan plan = plan_of(problem, test::random_schedule(graph, platform, random));
    for (int move = 0; move < 80; ++move) make_move(problem, plan, random);
    const auto before = schedule_of(problem, plan);
    ASSERT_TRUE(before);
    const double limit_ms = problem.latency_ms(*before) * (1 + 1e-10);
    const ColdPlan plain = plainer(problem, plan, limit_ms, {});
    const auto after = schedule_of(problem, plain);
    ASSERT_TRUE(after);
    EXPECT_TRUE(validate(graph, platform, *after, Objective::kColdStart).empty());
    EXPECT_LE(problem.latency_ms(*after), limit_ms);
    EXPECT_LE(fancies(plain), fancies(plan));
    const ColdPlan plainest = plainer(problem, plain, 1e18, {});
    EXPECT_EQ(fancies(plainest), 0u) << "what has no limit is plain";
    if (plan.stages.size() == graph.size()) {
      const auto order = graph.topological();
      EXPECT_EQ(operators_of(plainest), std::vector<OpId>(order.begin(), order.end()));
      ++ordered;
    }
    fewer += fancies(plain) < fancies(plan);
  }
  EXPECT_GT(fewer, 12u);
  EXPECT_GT(ordered, 5u);
}

TEST(PlainPlan, IsTheSameAfterTheDeadline) {
  Random random(7, "plain plans");
  const Graph graph = test::with_parameters(test::random_graph(8, 0.3, {}, random), false, random);
  const Platform platform = test::random_topology(2, 1, false, random);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const PlanProblem problem(costs);
  ColdPlan plan = plan_of(problem, test::random_schedule(graph, platform, random));
  for (int move = 0; move < 80; ++move) make_move(problem, plan, random);
  const ColdPlan same = plainer(problem, plan, 1e18, Deadline([] { return true; }));
  EXPECT_EQ(fancies(same), fancies(plan));
}

}  // namespace
}  // namespace hios::scheduler::cold
