#include "scheduler/best/state/stage_costs.h"

#include <gtest/gtest.h>

#include "hios/evaluate/validate.h"
#include "scheduler/best/state/arrangement.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/sanitized.h"

namespace hios::scheduler::best {
namespace {

using test::d0;
using test::v;

std::vector<OpId> operators_in(const Stage& stage) {
  std::vector<OpId> operators;
  for (const Group& group : stage.groups) {
    operators.insert(operators.end(), group.begin(), group.end());
  }
  return operators;
}

TEST(StageCosts, AreTheCostModelsWithPossibleGroups) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "prices");
    Graph graph = test::random_graph(12, 0.15, {}, random);
    const Platform platform = test::devices(2, 1 + static_cast<int>(seed % 4));
    const Profile profile = test::random_profile(graph, platform, random);
    Graph own = test::random_graph(12, 0.15, {}, random);
    for (bool measured : {false, true}) {
      const Graph& priced = measured ? graph : own;
      const CostModel costs = measured ? CostModel::from_profile(graph, platform, profile)
                                       : CostModel::from_graph(own, platform);
      const SearchProblem problem(costs);
      StageCosts stage_costs(problem);
      Schedule schedule = test::random_schedule(priced, platform, random);
      for (std::size_t d = 0; d < platform.size(); ++d) {
        for (Stage& stage : schedule.devices[d]) {
          const double given = costs.stage_ms(stage, DeviceId(d));
          const std::vector<OpId> operators = operators_in(stage);
          const double ms = stage_costs.cost_ms(operators, DeviceId(d));
          stage = stage_costs.stage(operators, DeviceId(d));
          EXPECT_NEAR(ms, costs.stage_ms(stage, DeviceId(d)), 1e-9 * ms);
          const auto streams = static_cast<std::size_t>(platform.device(DeviceId(d)).streams);
          if (measured || operators.size() > streams) continue;
          EXPECT_LE(ms, given * (1 + 1e-9));
        }
      }
      EXPECT_TRUE(validate(priced, platform, schedule).empty());
    }
  }
}

TEST(StageCosts, GroupDependentOperatorsTogether) {
  const Graph graph =
      test::small_graph({1, 2, 4}, {{1, 2, 1}}, {StageCostRule::Kind::kOverlap, 0.5});
  const Platform platform = test::devices(1, 3);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const SearchProblem problem(costs);
  StageCosts stage_costs(problem);
  EXPECT_EQ(stage_costs.stage(v({2, 3, 1}), d0), test::stage({{1, 2}, {3}}));
  EXPECT_DOUBLE_EQ(stage_costs.cost_ms(v({2, 3, 1}), d0), 0.5 * 7 + 0.5 * 4);
  EXPECT_DOUBLE_EQ(stage_costs.cost_ms(v({1, 2}), d0), 3) << "one group costs its sum";
}

TEST(StageCosts, SpreadMoreComponentsThanStreamsByLength) {
  const Graph graph = test::small_graph({5, 1, 2, 2}, {}, {StageCostRule::Kind::kOverlap, 0});
  const Platform platform = test::devices(1, 2);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const SearchProblem problem(costs);
  StageCosts stage_costs(problem);
  EXPECT_EQ(stage_costs.stage(v({1, 2, 3, 4}), d0), test::stage({{1}, {2, 3, 4}}));
  EXPECT_DOUBLE_EQ(stage_costs.cost_ms(v({1, 2, 3, 4}), d0), 5);
}

TEST(StageCosts, SharingPaysOnlyWhereItCanBeCheaper) {
  const Graph overlap = test::small_graph({1, 1}, {}, {StageCostRule::Kind::kOverlap, 0.5});
  const Graph serial = test::small_graph({1, 1}, {});
  for (int streams : {1, 2}) {
    const Platform platform = test::devices(1, streams);
    const CostModel overlap_costs = CostModel::from_graph(overlap, platform);
    const CostModel serial_costs = CostModel::from_graph(serial, platform);
    const SearchProblem a(overlap_costs), b(serial_costs);
    EXPECT_EQ(StageCosts(a).sharing_pays(d0), streams > 1);
    EXPECT_FALSE(StageCosts(b).sharing_pays(d0));
    EXPECT_DOUBLE_EQ(StageCosts(b).cost_ms(v({1, 2}), d0), 2);
  }
}

}  // namespace
}  // namespace hios::scheduler::best
