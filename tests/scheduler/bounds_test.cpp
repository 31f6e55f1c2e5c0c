#include "scheduler/bounds.h"

#include <gtest/gtest.h>

#include "support/dag_generator.h"
#include "support/small_graph.h"

// That no bound exceeds the optimum is oracle_test's; here is how large they are.

namespace hios::scheduler {
namespace {

double named(std::string_view name, const Graph& graph, const CostModel& costs) {
  for (const LowerBound& bound : all_bounds(graph, costs)) {
    if (bound.name == name) return bound.ms;
  }
  ADD_FAILURE() << "no bound is called " << name;
  return 0;
}

// One device runs both of the middle (3 + 4) sooner than the other could send it anything.
TEST(Bounds, CriticalPathPaysOrSharesADevice) {
  for (const auto& [transfer, latency] : {std::pair(0.0, 7.0), {1.0, 8.0}, {9.0, 10.0}}) {
    const Graph graph = test::small_graph(
        {2, 3, 4, 1}, {{1, 2, transfer}, {1, 3, transfer}, {2, 4, transfer}, {3, 4, transfer}});
    const Platform platform = test::devices(2, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    EXPECT_EQ(named("critical_path", graph, costs), latency);
    EXPECT_EQ(lower_bound(graph, costs).name, "critical_path");
  }
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
  EXPECT_DOUBLE_EQ(named("work", graph, CostModel::from_graph(graph, one_stream)), 8);
  const Platform two_streams = test::devices(1, 2);
  EXPECT_DOUBLE_EQ(named("work", graph, CostModel::from_graph(graph, two_streams)), 6);
}

TEST(Bounds, EachOperatorCountsOnItsFastestDevice) {
  Operator op;
  op.name = "a";
  op.time_by_device = {{"gpu0", 5}, {"gpu1", 3}};
  const Graph graph("one", {op}, {});
  const Platform platform = test::devices(2, 1);
  EXPECT_EQ(named("critical_path", graph, CostModel::from_graph(graph, platform)), 3);
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
  EXPECT_DOUBLE_EQ(named("critical_path", graph, costs), 4 * 3.0 / 4);
  EXPECT_DOUBLE_EQ(named("work", graph, costs), (2 + 4) * 3.0 / 6);
  const Platform serial = test::devices(1, 1);
  const CostModel serial_costs = CostModel::from_profile(graph, serial, profile);
  EXPECT_DOUBLE_EQ(named("work", graph, serial_costs), 6);
}

}  // namespace
}  // namespace hios::scheduler
