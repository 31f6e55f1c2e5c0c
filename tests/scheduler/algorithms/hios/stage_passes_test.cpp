#include "scheduler/algorithms/hios/stage_passes.h"

#include <string>

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/algorithms/hios/intra_gpu.h"
#include "scheduler/algorithms/list/heft.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/first_finding.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::d0;
using test::first_finding;
using test::stage;

const StageCostRule kMostOverlap{StageCostRule::Kind::kOverlap,
                                 0};  // half-loaded pairs: the longer

/// Checks that the list is a valid schedule that takes no longer than `length_ms`.
void expect_list_within(const StageList& list, const CostModel& costs, double length_ms) {
  const Schedule schedule = schedule_of(list, costs.platform());
  ASSERT_EQ(first_finding(costs.graph(), costs.platform(), schedule), "");
  EXPECT_LE(simulate(costs.graph(), schedule, costs).latency_ms, length_ms * (1 + 1e-12));
}

/// Passes and pairs from HEFT's schedule on; each must be valid, and pairs must not lengthen it.
void check_rounds(const CostModel& costs) {
  const Graph& graph = costs.graph();
  const Schedule start = schedule_heft(graph, costs, {}).schedule;
  StageList list = one_operator_list(graph, start, costs);
  for (int round = 0; round < 3; ++round) {
    StagePasses passes(graph, costs, list);
    expect_list_within(passes.list(), costs, passes.length_ms());
    for (int pass = 0; pass < 3; ++pass) {  // odd: also pairs after a pass from the end
      ASSERT_TRUE(passes.turn({}));
      expect_list_within(passes.list(), costs, passes.length_ms());
    }
    list = pair_in_slack(graph, costs, passes.list());
    expect_list_within(list, costs, passes.length_ms());
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(StagePasses, EveryPassIsAValidSchedule) {
  for (std::uint64_t seed = 0; seed < test::tries(400u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "passes");
    test::CostStyle style = test::style_by_number(seed);
    style.by_device = seed % 5 == 0;
    const Graph graph =
        test::random_graph(1 + random.below(40), random.uniform(0, 0.3), style, random);
    const Platform platform =
        test::devices(1 + random.below(4), 1 + static_cast<int>(random.below(4)));
    check_rounds(CostModel::from_graph(graph, platform));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(StagePasses, CountLaunchesInBothDirections) {
  for (std::uint64_t seed = 0; seed < test::tries(100u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "launched passes");
    Graph graph = test::random_graph(1 + random.below(30), 0.1, {}, random);
    const Platform platform = test::devices(1 + random.below(3), 3);
    Profile profile = test::random_profile(graph, platform, random);
    profile.configurations.front().launch = {random.uniform(0.01, 2), 0.1, 30};
    check_rounds(CostModel::from_profile(graph, platform, profile));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(StagePasses, RespectMemoryLabelsAndAllowedDevices) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    const std::string words =
        "n=40,edges=80,layers=8,speeds=1:0.5:1,memory=1.03,colocate=0.2,allowed=0.2,seed=" +
        std::to_string(seed);
    SCOPED_TRACE(words);
    const RandomProblem made = random_problem(parse_random_dag(words), test::devices(3, 4));
    check_rounds(CostModel::from_graph(made.graph, made.platform));
    if (::testing::Test::HasFailure()) return;
  }
}

// v1 → v3 and v2 → v3: a pass from the end puts v3 last and its inputs before it, as late as
// possible; the transfer decides that v2 stays on v3's device.
TEST(StagePasses, LookAheadKeepsOperatorsNearExpensiveConsumers) {
  const Graph graph = test::small_graph({2, 2, 3}, {{1, 3, 1}, {2, 3, 9}});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule apart{{one_operator_stages(test::v({1, 3})), one_operator_stages(test::v({2}))}};
  StagePasses passes(graph, costs, one_operator_list(graph, apart, costs));
  EXPECT_EQ(passes.length_ms(), 14);
  ASSERT_TRUE(passes.turn({}));
  ASSERT_TRUE(passes.turn({}));
  EXPECT_EQ(passes.length_ms(), 6);
}

TEST(StagePasses, EndWithTheDeadline) {
  Random random(1, "passes end");
  const Graph graph = test::random_graph(200, 0.05, {}, random);
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule start = schedule_heft(graph, costs, {}).schedule;
  StagePasses passes(graph, costs, one_operator_list(graph, start, costs));
  const double before = passes.length_ms();
  EXPECT_FALSE(passes.turn(Deadline([] { return true; })));
  EXPECT_EQ(passes.length_ms(), before);
}

// Both devices are equally late, so that no single merge shortens the schedule: Alg. 2 merges none.
TEST(PairInSlack, MergesWhereTheLatencyDoesNotFall) {
  const Graph graph = test::small_graph({2, 2, 2, 2}, {}, kMostOverlap);
  const Platform platform = test::devices(2, 2);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule apart{
      {one_operator_stages(test::v({1, 2})), one_operator_stages(test::v({3, 4}))}};
  EXPECT_EQ(parallelize(graph, costs, apart, 4).schedule, apart);
  const StageList paired = pair_in_slack(graph, costs, one_operator_list(graph, apart, costs));
  const Schedule expected{{{stage({{1}, {2}})}, {stage({{3}, {4}})}}};
  EXPECT_EQ(schedule_of(paired, platform), expected);
}

// v1 and v2 take 3.6 together, not 4, but then v3, the last one, would wait longer for v1.
TEST(PairInSlack, NeverLengthensTheSchedule) {
  const Graph half = test::small_graph({2, 2, 9}, {{1, 3, 1}}, kMostOverlap);
  std::vector<Operator> operators(half.operators().begin(), half.operators().end());
  for (Operator& op : operators) op.utilization = 0.9;
  const Graph graph("loaded", operators, {half.edges().begin(), half.edges().end()}, kMostOverlap);
  const Platform platform = test::devices(2, 2);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule serial{{one_operator_stages(test::v({1, 2})), one_operator_stages(test::v({3}))}};
  EXPECT_EQ(
      schedule_of(pair_in_slack(graph, costs, one_operator_list(graph, serial, costs)), platform),
      serial);
}

TEST(PairInSlack, KeepsGivenStages) {
  const Graph graph =
      test::small_graph({1, 2, 2, 2}, {{1, 2, 0}, {1, 3, 0}, {2, 4, 0}}, kMostOverlap);
  const Platform platform = test::devices(1, 3);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const StageList given{{stage({{1}}), stage({{2}, {3}}), stage({{4}})}, {d0, d0, d0}};
  EXPECT_EQ(schedule_of(pair_in_slack(graph, costs, given), platform),
            schedule_of(given, platform));
}

}  // namespace
}  // namespace hios::scheduler
