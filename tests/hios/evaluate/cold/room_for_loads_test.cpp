#include <gtest/gtest.h>

#include "hios/evaluate/cold/simulate_flows.h"
#include "support/graphs/cold_server.h"

// Loads that wait for room on their device, and the order in which they get it.

namespace hios {
namespace {

using test::cold_graph;
using test::d0;
using test::dram;
using test::expect_load;
using test::expect_stage;
using test::in_order;
using test::kMegabyte;
using test::one_bus_device;
using test::simulated;
using test::v1;
using test::v2;
using test::v3;
using test::v4;

// 4 MB hold the output of v1 and two of the three sets. v3's load waits until v1 has ended.
TEST(SimulateFlows, ALoadWaitsForRoomUntilAnEviction) {
  const Graph graph = cold_graph({{4, 2}, {1, 1}, {1, 2}}, {},
                                 [](auto& ops, auto&) { ops[0].memory_bytes = kMegabyte; });
  Weights weights{{{{v1, dram, d0}, {v2, dram, d0}, {v3, dram, d0}}}};
  weights.evictions = {{v1, d0, v1}};
  const Timeline timeline = simulated(graph, one_bus_device(4), in_order(graph, weights));
  expect_load(timeline, 1, 2, 3);
  EXPECT_EQ(timeline.loads[2].ready_ms, 3);
  expect_load(timeline, 2, 6, 8);
  EXPECT_EQ(timeline.latency_ms, 9);
  expect_load(simulated(graph, one_bus_device(6), in_order(graph, weights)), 2, 3, 5);
}

// v1 ends at 3 ms, when the second lane becomes free, too. The third has waited for room since 0.
TEST(SimulateFlows, TheFirstLaneGoesFirstWhereThereIsRoom) {
  const Graph graph = cold_graph({{1, 2}, {1, 1}, {1, 2}, {1, 2}}, {});
  const Platform platform = one_bus_device(3);
  Weights weights{{{{v1, dram, d0}}, {{v2, dram, d0}, {v3, dram, d0}}, {{v4, dram, d0}}}};
  weights.evictions = {{v1, d0, v1}, {v2, d0, v2}, {v3, d0, v3}};
  const Timeline timeline = simulated(graph, platform, in_order(graph, weights));
  expect_load(timeline, 0, 0, 3);
  expect_load(timeline, 1, 0, 2);
  expect_stage(timeline, d0, 0, 3, 4);
  expect_load(timeline, 2, 4, 6);
  EXPECT_EQ(timeline.loads[3].ready_ms, 0);
  expect_load(timeline, 3, 7, 9);
}

TEST(SimulateFlows, ALoadThatDoesNotFitDelaysNoOtherLane) {
  const Graph graph = cold_graph({{3, 2}, {1, 3}, {1, 1}}, {});
  Weights weights{{{{v1, dram, d0}}, {{v2, dram, d0}}, {{v3, dram, d0}}}};
  weights.evictions = {{v1, d0, v1}};
  const Timeline timeline = simulated(graph, one_bus_device(4), in_order(graph, weights));
  expect_load(timeline, 2, 0, 2);
  expect_load(timeline, 0, 0, 3);
  expect_load(timeline, 1, 6, 9);
}

// Both have room at 1 ms, but only for one of them: the load of lane 1 ends then, and v1's stage.
TEST(SimulateFlows, AtOneTimeFlowsEndBeforeStagesAndLoadsStartByLane) {
  const Graph graph = cold_graph({{1, 2}, {0, 1}, {0, 2}, {0, 2}}, {});
  Weights weights{{{{v2, dram, d0}, {v3, dram, d0}}, {{v4, dram, d0}}}};
  weights.resident = {{v1, d0}};
  weights.evictions = {{v1, d0, v1}, {v2, d0, v2}, {v3, d0, v3}};
  const Timeline timeline = simulated(graph, one_bus_device(3), in_order(graph, weights));
  expect_load(timeline, 0, 0, 1);
  expect_load(timeline, 1, 1, 3);
  expect_stage(timeline, d0, 1, 1, 1);
  expect_load(timeline, 2, 3, 5);
  EXPECT_EQ(timeline.latency_ms, 5);
}

}  // namespace
}  // namespace hios
