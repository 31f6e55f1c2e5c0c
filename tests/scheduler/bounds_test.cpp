#include "scheduler/bounds.h"

#include <gtest/gtest.h>

#include "support/dag_generator.h"
#include "support/small_graph.h"

// That no bound exceeds the optimum is oracle_test's; here is how large they are.

namespace hios::scheduler {
namespace {

TEST(Bounds, CriticalPathLeavesTransfersOut) {
  const Graph graph = test::small_graph({2, 3, 4, 1}, {{1, 2, 9}, {1, 3, 9}, {2, 4, 9}, {3, 4, 9}});
  const Platform platform = test::devices(2, 1);
  const LowerBound bound = lower_bound(graph, CostModel::from_graph(graph, platform));
  EXPECT_EQ(bound.ms, 2 + 4 + 1);
  EXPECT_EQ(bound.name, "critical_path");
}

TEST(Bounds, WorkIsSharedByDevices) {
  const Graph graph = test::small_graph({2, 2, 2, 2}, {});
  for (std::size_t devices : {1, 2, 3}) {
    const Platform platform = test::devices(devices, 8);
    const LowerBound bound = lower_bound(graph, CostModel::from_graph(graph, platform));
    EXPECT_DOUBLE_EQ(bound.ms, 8.0 / static_cast<double>(devices));
    EXPECT_EQ(bound.name, "work");
  }
}

TEST(Bounds, OverlapShrinksWorkOnlyWhereThereAreStreams) {
  const StageCostRule rule{StageCostRule::Kind::kOverlap, 0.5};
  const Graph graph = test::small_graph({2, 2, 2, 2}, {}, rule);  // utilization 0.5
  const Platform one_stream = test::devices(1, 1);
  EXPECT_DOUBLE_EQ(work_bound(graph, CostModel::from_graph(graph, one_stream)).ms, 8);
  const Platform two_streams = test::devices(1, 2);
  EXPECT_DOUBLE_EQ(work_bound(graph, CostModel::from_graph(graph, two_streams)).ms, 6);
}

TEST(Bounds, EachOperatorCountsOnItsFastestDevice) {
  Operator op;
  op.name = "a";
  op.time_by_device = {{"gpu0", 5}, {"gpu1", 3}};
  const Graph graph("one", {op}, {});
  const Platform platform = test::devices(2, 1);
  EXPECT_EQ(critical_path_bound(graph, CostModel::from_graph(graph, platform)).ms, 3);
}

// a and b are measured together at 3 instead of 2 + 4: at best, a path loses a quarter of its time
// in such stages, and work a half.
TEST(Bounds, MeasuredStagesLowerTheShares) {
  Operator a, b;
  a.name = a.signature = "a";
  b.name = b.signature = "b";
  const Graph graph("pair", {a, b}, {});
  Profile profile;
  Configuration configuration;
  configuration.kind = "gpu";
  configuration.threads = 0;
  configuration.operators["a"].ms = 2;
  configuration.operators["b"].ms = 4;
  configuration.stages[{{"a"}, {"b"}}].ms = 3;
  profile.configurations.push_back(configuration);
  const Platform platform = test::devices(1, 2);
  const CostModel costs = CostModel::from_profile(graph, platform, profile);
  EXPECT_DOUBLE_EQ(critical_path_bound(graph, costs).ms, 4 * 3.0 / 4);
  EXPECT_DOUBLE_EQ(work_bound(graph, costs).ms, (2 + 4) * 3.0 / 6);
  const Platform serial = test::devices(1, 1);
  const CostModel serial_costs = CostModel::from_profile(graph, serial, profile);
  EXPECT_DOUBLE_EQ(work_bound(graph, serial_costs).ms, 6);
}

}  // namespace
}  // namespace hios::scheduler
