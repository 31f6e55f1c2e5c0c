// Plans of models whose devices hold parameters before.
#include "scheduler/cold/shared/kept_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/validate.h"
#include "scheduler/cold/loads.h"
#include "scheduler/cold/search/plan_moves.h"
#include "scheduler/scheduler.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/served_models.h"

namespace hios::scheduler::cold {
namespace {

constexpr Bytes kKeptMillion = 1'000'000;

/// Returns the shortest latency of the plans that all run on gpu0 without anything held.
double least_kept_ms(const Graph& graph, const Platform& platform, const Held& held) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  const std::vector<OpId> order(graph.topological().begin(), graph.topological().end());
  const Schedule base =
      with_loads(on_one_device(platform, DeviceId(0), one_operator_stages(order)), graph, platform);
  const PlanProblem problem(costs, held);
  const std::vector<ColdPlan> bases = {plan_of(problem, base)};
  double least_ms = 1e300;
  for (const Schedule& schedule : kept_schedules(problem, bases)) {
    EXPECT_TRUE(validate(graph, platform, schedule, Objective::kColdStart).empty());
    EXPECT_EQ(schedule.weights->resident, held.resident);
    least_ms = std::min(least_ms, problem.latency_ms(schedule));
  }
  return least_ms;
}

// 4 and 4 ms of loads over the only bus of gpu0, or 2 ms of each over both buses.
TEST(KeptPlans, ResidentParametersAreNotLoaded) {
  const Graph graph = test::served_chain("a", {{1, 4 * kKeptMillion}, {1, 4 * kKeptMillion}});
  const Platform one = test::served_platform({0});
  EXPECT_NEAR(least_kept_ms(graph, one, {}), 8 + 1, 1e-6);
  EXPECT_NEAR(least_kept_ms(graph, one, {{{OpId(0), DeviceId(0)}}, {}}), 4 + 1, 1e-6);
  EXPECT_NEAR(least_kept_ms(graph, one, {{{OpId(0), DeviceId(0)}, {OpId(1), DeviceId(0)}}, {}}), 2,
              1e-6);
}

// Parameters that gpu1 holds come from there in 1 ms, or v0 runs there.
TEST(KeptPlans, AnotherDeviceIsAStore) {
  const Graph graph = test::served_chain("a", {{1, 4 * kKeptMillion}, {1, 4 * kKeptMillion}});
  const Platform two = test::served_platform({0, 0});
  EXPECT_NEAR(least_kept_ms(graph, two, {{{OpId(0), DeviceId(1)}}, {}}), 4 + 1, 1e-6);
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) op.allowed = {"gpu0"};
  const Graph confined("a", operators, {graph.edges().begin(), graph.edges().end()});
  const Held both{{{OpId(0), DeviceId(1)}, {OpId(1), DeviceId(1)}}, {}};
  EXPECT_NEAR(least_kept_ms(confined, two, both), 2 + 1, 1e-6);
  EXPECT_NEAR(least_kept_ms(graph, two, both), 2, 1e-6) << "both run on gpu1";
}

TEST(KeptPlans, OthersParametersTakeRoom) {
  const Graph graph = test::served_chain("a", {{1, 4 * kKeptMillion}});
  const Platform little = test::served_platform({6 * kKeptMillion});
  EXPECT_NEAR(least_kept_ms(graph, little, {{}, {2 * kKeptMillion}}), 4 + 1, 1e-6);
  const Held full{{}, {3 * kKeptMillion}};
  EXPECT_EQ(least_kept_ms(graph, little, full), 1e300) << "no schedule";
}

TEST(KeptPlans, EveryMoveLeavesAValidScheduleWithResidents) {
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "kept");
    const Graph graph = test::with_parameters(
        test::random_graph(1 + random.below(10), random.uniform(0, 0.5), {}, random), false,
        random);
    const Platform platform = test::random_topology(1 + random.below(3), 1, false, random);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const ParameterSets sets(graph);
    Held held;
    for (const ParameterSets::Set& set : sets.sets()) {
      for (std::size_t d = 0; d < platform.size(); ++d) {
        if (random.below(3) == 0) held.resident.push_back({set.operators.front(), DeviceId(d)});
      }
    }
    const PlanProblem problem(costs, held);
    Schedule start = test::random_schedule(graph, platform, random);
    start.weights = test::random_weights(graph, platform, start, 2, random);
    const std::vector<ColdPlan> bases = {plan_of(problem, start)};
    for (ColdPlan& plan : kept_plans(problem, bases)) {
      for (int move = 0; move < 20; ++move) {
        if (move > 0 && !make_move(problem, plan, random)) continue;
        const auto schedule = schedule_of(problem, plan);
        if (!schedule) continue;
        const auto findings = validate(graph, platform, *schedule, Objective::kColdStart);
        ASSERT_TRUE(findings.empty()) << findings.front().text;
        ++made;
      }
    }
  }
  EXPECT_GT(made, 500u);
}

}  // namespace
}  // namespace hios::scheduler::cold
