// Loads that use the cores of the device that they load to (Route::slowdown, load_slowdown).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "support/graphs/small_graph.h"

namespace hios {
namespace {

using test::d0;
using test::v1;
using test::v2;

constexpr StoreId kStoreOfSlowdowns(0);

/// Returns operators in a row, each with a time and the milliseconds of its load at 1 GB/s.
Graph row_of(const std::vector<std::pair<double, double>>& times_and_loads) {
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  for (const auto& [ms, load_ms] : times_and_loads) {
    Operator& op = operators.emplace_back();
    op.name = "v" + std::to_string(operators.size());
    op.time_ms = ms;
    op.has_time = true;
    op.parameter_bytes = static_cast<Bytes>(load_ms * 1e6);
    if (operators.size() > 1)
      edges.push_back({OpId(operators.size() - 2), OpId(operators.size() - 1), 0, {}});
  }
  return Graph("row of loads", std::move(operators), std::move(edges));
}

/// Returns a device whose loads move 1 GB/s and share its core.
Platform one_core(double start_ms = 0) {
  Route route{kStoreOfSlowdowns, d0, {BusId(0)}, 0, 1};
  route.start_ms = start_ms;
  route.slowdown = route.load_slowdown = 2;
  return Platform({{.name = "cpu0", .kind = "cpu", .host = ""}},
                  {{"memory", "", StoreKind::kMemory}}, {{"core", 1}}, {route});
}

Timeline timeline_on(const Graph& graph, const Platform& platform, Weights weights) {
  Schedule schedule;
  auto& stages = schedule.devices.emplace_back();
  for (std::size_t v = 0; v < graph.size(); ++v) stages.push_back({{{OpId(v)}}});
  schedule.weights = std::move(weights);
  return simulate(graph, schedule, CostModel::from_graph(graph, platform));
}

// The first operator runs from 2 to 12 next to the load of 5 ms, which takes 10; what is left of
// it, and the second operator, have the core to themselves.
TEST(Slowdowns, ALoadAndAnOperatorShareACore) {
  const Graph graph = row_of({{8, 2}, {3, 5}});
  const Timeline timeline = timeline_on(
      graph, one_core(), {{{{v1, kStoreOfSlowdowns, d0}, {v2, kStoreOfSlowdowns, d0}}}});
  EXPECT_DOUBLE_EQ(timeline.loads[0].end_ms, 2);
  EXPECT_DOUBLE_EQ(timeline.loads[1].end_ms, 12);
  EXPECT_DOUBLE_EQ(timeline.stages[0][0].end_ms, 15);
  EXPECT_DOUBLE_EQ(timeline.latency_ms, 8 + 2 + 3 + 5) << "one core does all of it";
}

TEST(Slowdowns, ALoadIsFastWhileTheDeviceWaits) {
  const Graph graph = row_of({{1, 2}, {3, 5}});
  const Timeline timeline = timeline_on(
      graph, one_core(), {{{{v1, kStoreOfSlowdowns, d0}, {v2, kStoreOfSlowdowns, d0}}}});
  EXPECT_DOUBLE_EQ(timeline.stages[0][0].end_ms, 4) << "1 ms, twice as long";
  EXPECT_DOUBLE_EQ(timeline.loads[1].end_ms, 2 + 2 + 4);
  EXPECT_DOUBLE_EQ(timeline.latency_ms, 11);
}

// Two loads at a time: a third of the core for each thread, until the operator has ended at 6. 2 MB
// of each load are there by then, and the last MB of both takes 2 ms.
TEST(Slowdowns, SeveralLoadsAddUp) {
  const Graph graph = row_of({{2, 0}, {1, 3}, {1, 3}});
  const Weights weights{{{{v2, kStoreOfSlowdowns, d0}}, {{test::v3, kStoreOfSlowdowns, d0}}}};
  const Timeline timeline = timeline_on(graph, one_core(), weights);
  EXPECT_NEAR(timeline.stages[0][0].end_ms, 6, 1e-6);
  EXPECT_NEAR(timeline.loads[0].end_ms, 8, 1e-6);
  EXPECT_NEAR(timeline.loads[1].end_ms, 8, 1e-6);
  EXPECT_NEAR(timeline.latency_ms, 2 + 1 + 1 + 6, 1e-6) << "one core does all of it";
}

// A second lane makes no second core: all of the work takes as long as in one lane.
TEST(Slowdowns, TwoLanesGetNoMoreOfACore) {
  const Graph graph = row_of({{8, 0}, {0, 4}, {0, 4}});
  const std::vector<Load> loads = {{v2, kStoreOfSlowdowns, d0}, {test::v3, kStoreOfSlowdowns, d0}};
  const Timeline one = timeline_on(graph, one_core(), {{loads}});
  const Timeline two = timeline_on(graph, one_core(), {{{loads[0]}, {loads[1]}}});
  EXPECT_NEAR(one.latency_ms, 16, 1e-6);
  EXPECT_NEAR(two.latency_ms, 16, 1e-6);
}

TEST(Slowdowns, TheStartIsWaitedForOnceALane) {
  const Graph graph = row_of({{1, 2}, {3, 5}});
  const Timeline timeline = timeline_on(
      graph, one_core(0.5), {{{{v1, kStoreOfSlowdowns, d0}, {v2, kStoreOfSlowdowns, d0}}}});
  EXPECT_DOUBLE_EQ(timeline.loads[0].end_ms, 2.5);
  EXPECT_DOUBLE_EQ(timeline.loads[1].end_ms, 2.5 + 2 + 4);
  EXPECT_DOUBLE_EQ(timeline.latency_ms, 11.5);
}

// A read in place computes, too: it is slowed by loads, and slows them.
TEST(Slowdowns, AReadInPlaceIsSlowedAsOtherStages) {
  Graph plain = row_of({{4, 4}, {1, 2}});
  std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
  operators[0].in_place_ms = 4;
  operators[0].in_place_bytes = 0.4e6;  // a tenth of the bus
  const Graph graph("row", std::move(operators), {plain.edges().begin(), plain.edges().end()});
  Weights weights{{{{v2, kStoreOfSlowdowns, d0}}}};
  weights.in_place = {{v1, kStoreOfSlowdowns}};
  const Timeline timeline = timeline_on(graph, one_core(), weights);
  EXPECT_NEAR(timeline.loads[0].end_ms, 4, 1e-6);
  EXPECT_NEAR(timeline.stages[0][0].end_ms, 6, 1e-6);
  EXPECT_NEAR(timeline.latency_ms, 7, 1e-6);
}

}  // namespace
}  // namespace hios
