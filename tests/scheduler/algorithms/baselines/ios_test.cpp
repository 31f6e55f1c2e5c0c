#include "scheduler/algorithms/baselines/ios.h"

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios::scheduler {
namespace {

using test::stage;

const StageCostRule kMax{StageCostRule::Kind::kOverlap, 0};  // operators at half load: max, not sum

IosResult run_ios(const Graph& graph, int streams, const IosOptions& options = {}) {
  const Platform platform = test::devices(1, streams);
  const CostModel costs = CostModel::from_graph(graph, platform);
  return schedule_endings(graph, costs, DeviceId(0), options);
}

double latency(const Graph& graph, const IosResult& result, int streams) {
  const Platform platform = test::devices(1, streams);
  const Schedule schedule{{result.stages}};
  EXPECT_TRUE(validate(graph, platform, schedule).empty());
  return simulate(graph, schedule, CostModel::from_graph(graph, platform)).latency_ms;
}

// Two parallel branches of the same length; a group of two operators runs next to one of one.
TEST(Ios, GroupsAreBranches) {
  const Graph graph = test::small_graph(
      {1, 2, 2, 4, 1}, {{1, 2, 0}, {2, 3, 0}, {1, 4, 0}, {3, 5, 0}, {4, 5, 0}}, kMax);
  const IosResult result = run_ios(graph, 4);
  EXPECT_EQ(result.stages, (std::vector<Stage>{stage({{1}}), stage({{2, 3}, {4}}), stage({{5}})}));
  EXPECT_TRUE(result.optimal);
}

TEST(Ios, MaxGroupLimitsTheOperatorsOfAGroup) {
  const Graph graph = test::small_graph({1, 1, 1, 3}, {{1, 2, 0}, {2, 3, 0}}, kMax);
  EXPECT_EQ(latency(graph, run_ios(graph, 2, {.max_group = 3}), 2), 3);
  EXPECT_EQ(latency(graph, run_ios(graph, 2, {.max_group = 2}), 2), 4);
  EXPECT_EQ(latency(graph, run_ios(graph, 2, {.max_group = 1}), 2), 5);
}

TEST(Ios, MaxGroupsAndStreamsLimitTheGroupsOfAStage) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {}, kMax);
  EXPECT_EQ(latency(graph, run_ios(graph, 4), 4), 2);  // four at half load fill the device twice
  const Graph light = test::small_graph({1, 1}, {}, kMax);
  EXPECT_EQ(latency(light, run_ios(light, 2), 2), 1);
  EXPECT_EQ(latency(light, run_ios(light, 1), 1), 2);
  EXPECT_EQ(latency(light, run_ios(light, 2, {.max_groups = 1}), 2), 2);
}

TEST(Ios, EvaluatesOnlyStagesOfIndependentGroups) {
  Random random(3, "asked");
  Graph graph = test::random_graph(12, 0.2, {}, random);
  const Platform platform = test::devices(1, 3);
  Profile profile = test::random_profile(graph, platform, random);
  profile.configurations.front().stages.clear();
  CostModel costs = CostModel::from_profile(graph, platform, profile);
  const Reachability reach(graph);
  std::size_t asked = 0;
  costs.on_unmeasured([&](const Stage& wanted, DeviceId) {
    ++asked;
    EXPECT_LE(wanted.groups.size(), 3u);
    for (const Group& a : wanted.groups) {
      for (const Group& b : wanted.groups) {
        if (&a == &b) continue;
        for (OpId from : a) {
          for (OpId to : b) EXPECT_TRUE(reach.independent(from, to));
        }
      }
    }
  });
  schedule_endings(graph, costs, DeviceId(0), {});
  EXPECT_GT(asked, 10u);
}

// Both operators in one stage, each as the last stage, and each alone before that one.
TEST(Ios, ABudgetOfAllEndingsIsEnoughAndOneLessIsNot) {
  const Graph graph = test::small_graph({1, 1}, {}, kMax);
  EXPECT_TRUE(run_ios(graph, 2, {.max_endings = 5}).optimal);
  EXPECT_FALSE(run_ios(graph, 2, {.max_endings = 4}).optimal);
}

TEST(Ios, BudgetAndTimeEndInTheBestFound) {
  Random random(5, "budget");
  const Graph graph = test::random_graph(16, 0.12, {}, random);
  const double serial = latency(graph, run_ios(graph, 1), 1);
  const IosResult whole = run_ios(graph, 4);
  ASSERT_TRUE(whole.optimal);
  double before = serial;
  for (std::int64_t budget : {1, 100, 10'000}) {
    const IosResult part = run_ios(graph, 4, {.max_endings = budget});
    EXPECT_FALSE(part.optimal);
    EXPECT_FALSE(part.timed_out);
    EXPECT_LE(latency(graph, part, 4), before);
    before = latency(graph, part, 4);
  }
  EXPECT_LT(before, serial);
  EXPECT_LE(latency(graph, whole, 4), before);

  const Platform platform = test::devices(1, 4);
  const CostModel costs = CostModel::from_graph(graph, platform);
  int calls = 0;
  const IosResult late =
      schedule_endings(graph, costs, DeviceId(0), {}, Deadline([&] { return ++calls > 20; }));
  EXPECT_TRUE(late.timed_out);
  EXPECT_FALSE(late.optimal);
  EXPECT_LE(latency(graph, late, 4), serial);
}

// 70 operators in a chain of diamonds are cut without loss; 40 independent ones are not.
TEST(Ios, ReportsIfPruningLostOptimality) {
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  const auto connect = [&](std::size_t from, std::size_t to) {
    Edge edge;
    edge.from = OpId(from);
    edge.to = OpId(to);
    edge.transfer_ms = 0;
    edges.push_back(edge);
  };
  for (std::size_t i = 0; i < 70; ++i) {
    Operator op;
    op.name = std::string("v").append(std::to_string(i));
    op.time_ms = 1;
    op.has_time = true;
    op.utilization = 0.5;
    operators.push_back(op);
  }
  const Graph wide("wide", std::vector<Operator>(operators.begin(), operators.begin() + 40), {},
                   kMax);
  const IosResult cut = run_ios(wide, 2, {.max_endings = 2000});
  EXPECT_FALSE(cut.optimal);
  EXPECT_EQ(latency(wide, cut, 2), 20);
  for (std::size_t i = 0; i + 3 < 70; i += 3) {
    connect(i, i + 1);
    connect(i, i + 2);
    connect(i + 1, i + 3);
    connect(i + 2, i + 3);
  }
  const Graph diamonds("diamonds", operators, edges, kMax);
  const IosResult exact = run_ios(diamonds, 2);
  EXPECT_TRUE(exact.optimal);
  EXPECT_EQ(latency(diamonds, exact, 2), 70 - 23);
}

}  // namespace
}  // namespace hios::scheduler
