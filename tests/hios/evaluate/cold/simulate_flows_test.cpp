#include "hios/evaluate/cold/simulate_flows.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "hios/evaluate/simulate.h"
#include "support/graphs/cold_server.h"
#include "support/graphs/dag_generator.h"

namespace hios {
namespace {

using test::cold_graph;
using test::cold_server;
using test::d0;
using test::d1;
using test::dram;
using test::expect_load;
using test::expect_stage;
using test::in_order;
using test::kMegabyte;
using test::one_bus_device;
using test::simulated;
using test::stage;
using test::v1;
using test::v2;
using test::v3;

// Two GPUs on one bus get half of it each; on two buses each has its own (Namkoong et al.,
// "SortingHat", section 2.2).
TEST(SimulateFlows, DevicesOnOneBusGetHalfEach) {
  const Graph graph = cold_graph({{1, 4}, {1, 4}}, {});
  Schedule schedule{{{stage({{1}})}, {stage({{2}})}}};
  schedule.weights = Weights{{{{v1, dram, d0}}, {{v2, dram, d1}}}};
  const auto latency = [&](BusId second) {
    const Platform platform = cold_server(
        2, {2, 2}, {{dram, d0, {BusId(0)}}, {dram, d1, {second}}, {d0, d1, {}}, {d1, d0, {}}});
    return simulated(graph, platform, schedule).latency_ms;
  };
  EXPECT_DOUBLE_EQ(latency(BusId(0)), 4 + 1);
  EXPECT_DOUBLE_EQ(latency(BusId(1)), 2 + 1);
}

TEST(SimulateFlows, ALaneLoadsWhileStagesRun) {
  const Graph graph = cold_graph({{2, 1}, {2, 3}, {2, 1}}, {{1, 2}, {2, 3}});
  const Schedule schedule = in_order(graph, {{{{v1, dram, d0}, {v2, dram, d0}, {v3, dram, d0}}}});
  const Timeline timeline = simulated(graph, one_bus_device(), schedule);
  expect_load(timeline, 0, 0, 1);
  expect_load(timeline, 1, 1, 4);
  expect_load(timeline, 2, 4, 5);
  EXPECT_EQ(timeline.loads[1].lane, 0u);
  EXPECT_EQ(timeline.loads[1].index, 1u);
  EXPECT_EQ(timeline.loads[1].ready_ms, 1);
  EXPECT_EQ(timeline.loads[1].size_bytes, 3 * kMegabyte);
  expect_stage(timeline, d0, 0, 1, 3);
  expect_stage(timeline, d0, 1, 4, 6);
  expect_stage(timeline, d0, 2, 6, 8);
  EXPECT_EQ(timeline.stages[0][1].awaited_ms, 3);
  EXPECT_EQ(timeline.stages[0][1].ready_ms, 4) << "its parameters come after its input";
  EXPECT_EQ(timeline.latency_ms, 8);
}

TEST(SimulateFlows, WithLoadFirstStagesWaitForAllLanes) {
  const Graph graph = cold_graph({{2, 1}, {2, 3}, {2, 0}}, {{1, 2}, {2, 3}});
  Weights weights{{{{v1, dram, d0}}, {{v2, dram, d0}}}};
  weights.load_first = true;
  const Timeline timeline = simulated(graph, one_bus_device(), in_order(graph, weights));
  expect_load(timeline, 0, 0, 2);
  expect_load(timeline, 1, 0, 4);
  expect_stage(timeline, d0, 0, 4, 6);
  EXPECT_EQ(timeline.latency_ms, 10);
}

TEST(SimulateFlows, ResidentParametersAndSharedOnesAreThere) {
  const Graph graph = cold_graph({{1, 2}, {1, 3}, {1, 2}}, {}, [](auto& operators, auto&) {
    operators[0].parameters = operators[2].parameters = "tied";
  });
  Weights weights{{{{v3, dram, d0}}}};
  weights.resident = {{v2, d0}};
  Schedule schedule{{{stage({{2}}), stage({{1}}), stage({{3}})}}};
  schedule.weights = weights;
  const Timeline timeline = simulated(graph, one_bus_device(), schedule);
  expect_stage(timeline, d0, 0, 0, 1);
  expect_stage(timeline, d0, 1, 2, 3);
  EXPECT_EQ(timeline.stages[0][0].ready_ms, 0);
  EXPECT_EQ(timeline.latency_ms, 4);
}

// gpu1 passes v1's parameters on, once it has them, over a link of 4 GB/s.
TEST(SimulateFlows, ACopyFromADeviceWaitsUntilItHoldsThem) {
  const Graph graph = cold_graph({{1, 4}, {5, 4}}, {});
  const Platform platform = cold_server(
      2, {1, 2, 4},
      {{dram, d0, {BusId(0)}}, {dram, d1, {BusId(1)}}, {d1, d0, {BusId(2)}, 0.5}, {d0, d1, {}}});
  Schedule schedule{{{stage({{1}})}, {stage({{2}})}}};
  schedule.weights =
      Weights{{{{v1, d1, d0}}, {{v1, dram, d1}, {v2, dram, d1}}}, {}, {{v1, d1, v2}}};
  const Timeline timeline = simulated(graph, platform, schedule);
  expect_load(timeline, 0, 2, 2 + 0.5 + 1);
  EXPECT_EQ(timeline.loads[0].ready_ms, 0) << "the lane itself was free";
  expect_load(timeline, 1, 0, 2);
  expect_load(timeline, 2, 2, 4);
  expect_stage(timeline, d0, 0, 3.5, 4.5);
  expect_stage(timeline, d1, 0, 4, 9);
}

/// Returns the end of v1, which reads 2 MB in place over a bus of 1 GB/s, 0.5 ms away. v2's load
/// of so many megabytes goes over the same bus.
double in_place_end_ms(double in_place_ms, Bytes bytes, Bytes megabytes_of_other) {
  const Graph graph = cold_graph({{1, 8}, {1, megabytes_of_other}}, {}, [&](auto& ops, auto&) {
    ops[0].in_place_ms = in_place_ms;
    ops[0].in_place_bytes = bytes;
  });
  Weights weights;
  weights.in_place = {{v1, dram}};
  if (megabytes_of_other > 0) {
    weights.lanes = {{{v2, dram, d0}}};
  } else {
    weights.in_place.push_back({v2, dram});  // without parameters it runs as any other
  }
  const Platform platform = cold_server(1, {1}, {{dram, d0, {BusId(0)}, 0.5}});
  return simulated(graph, platform, in_order(graph, weights)).stages[0][0].end_ms;
}

TEST(SimulateFlows, AReadInPlaceTakesItsTimeIfUndisturbed) {
  EXPECT_DOUBLE_EQ(in_place_end_ms(3, 2 * kMegabyte, 0), 3);
  EXPECT_DOUBLE_EQ(in_place_end_ms(4.5, 2 * kMegabyte, 4), 4.5) << "half of the bus suffices";
  // At most 0.8 GB/s for itself, 0.5 GB/s next to a load.
  EXPECT_DOUBLE_EQ(in_place_end_ms(3, 2 * kMegabyte, 8), 0.5 + 4);
  // The load ends at 2.5 ms, when 1 MB is left to read.
  EXPECT_DOUBLE_EQ(in_place_end_ms(3, 2 * kMegabyte, 1), 0.5 + 2 + 1 / 0.8);
}

TEST(SimulateFlows, AReadInPlaceIsNoFasterThanItsRoute) {
  EXPECT_DOUBLE_EQ(in_place_end_ms(1, 2 * kMegabyte, 0), 0.5 + 2);
  EXPECT_DOUBLE_EQ(in_place_end_ms(0.2, 2 * kMegabyte, 0), 0.5 + 2) << "shorter than the latency";
  EXPECT_DOUBLE_EQ(in_place_end_ms(3, 0, 0), 3) << "without bytes";
  EXPECT_DOUBLE_EQ(in_place_end_ms(0.2, 0, 0), 0.5) << "without bytes, but with latency";
}

// v1's tensor and v2's parameters share the bus to gpu1 from 1 ms on. The tensor of v1 that has a
// time of its own shares nothing.
TEST(SimulateFlows, MessagesAreFlows) {
  const Platform platform = cold_server(
      2, {1}, {{d0, d1, {BusId(0)}, 0.5}, {dram, d1, {BusId(0)}}, {dram, d0, {}}, {d1, d0, {}}});
  const auto timeline = [&](std::optional<double> transfer_ms, bool warm) {
    const Graph graph = cold_graph({{1, 0}, {1, 3}}, {{1, 2}, {1, 2}}, [&](auto&, auto& edges) {
      edges[1].size_bytes = 2 * kMegabyte;
      edges[0].transfer_ms = edges[1].transfer_ms = transfer_ms;
    });
    Schedule schedule{{{stage({{1}})}, {stage({{2}})}}};
    if (!warm) schedule.weights = Weights{{{{v2, dram, d1}}}};
    return simulated(graph, platform, schedule);
  };
  // The load has moved 1.5 MB until 1.5 ms; the rest takes 3 ms, and then 0.5 MB of the tensor are
  // left.
  const Timeline shared = timeline({}, false);
  expect_load(shared, 0, 0, 4.5);
  ASSERT_EQ(shared.transfers.size(), 1u);
  EXPECT_EQ(shared.transfers[0].start_ms, 1);
  EXPECT_DOUBLE_EQ(shared.transfers[0].end_ms, 5);
  EXPECT_EQ(shared.transfers[0].size_bytes, 2 * kMegabyte) << "the largest edge";
  expect_stage(shared, d1, 0, 5, 6);
  const Timeline own_time = timeline(0.25, false);
  expect_load(own_time, 0, 0, 3);
  EXPECT_EQ(own_time.transfers[0].end_ms, 1.25);
  EXPECT_DOUBLE_EQ(timeline({}, true).latency_ms, 1 + 0.5 + 2 + 1) << "parameters are there";
}

// Costs and bounds count the time of each edge. A larger one may have a short time of its own.
TEST(SimulateFlows, AMessageTakesItsSlowestEdge) {
  const Platform platform = cold_server(2, {1}, {{d0, d1, {BusId(0)}, 0.5}, {d1, d0, {}}});
  const auto latency_ms = [&](double transfer_ms) {
    const Graph graph = cold_graph({{1, 0}, {1, 0}}, {{1, 2}, {1, 2}}, [&](auto&, auto& edges) {
      edges[1].size_bytes = 2 * kMegabyte;
      edges[1].transfer_ms = transfer_ms;
    });
    return simulated(graph, platform, Schedule{{{stage({{1}})}, {stage({{2}})}}}).latency_ms;
  };
  EXPECT_DOUBLE_EQ(latency_ms(0.25), 1 + 0.5 + 1 + 1) << "the other edge's bytes, over the route";
  EXPECT_DOUBLE_EQ(latency_ms(4), 1 + 4 + 1);
}

// A flow of one byte has less than a thousandth left for the last thousandth of its time.
TEST(SimulateFlows, NothingTakesLessThanAlone) {
  const Platform platform =
      cold_server(2, {1e-6}, {{dram, d0, {BusId(0)}}, {d0, d1, {BusId(0)}}, {d1, d0, {}}});
  const Graph reads = cold_graph({{10, 2}, {9.9995, 0}}, {}, [](auto& ops, auto&) {
    ops[0].in_place_ms = 10;
    ops[0].in_place_bytes = 1;
  });
  Schedule schedule{{{stage({{1}})}, {stage({{2}})}}};
  schedule.weights = Weights{.in_place = {{v1, dram}}};
  EXPECT_DOUBLE_EQ(simulated(reads, platform, schedule).latency_ms, 10);
  const Graph sends = cold_graph({{1, 0}, {1, 0}, {0.9995, 0}}, {{1, 2}},
                                 [](auto&, auto& edges) { edges[0].size_bytes = 1; });
  const Schedule sent{{{stage({{1}}), stage({{3}})}, {stage({{2}})}}};
  EXPECT_DOUBLE_EQ(simulated(sends, platform, sent).latency_ms, 1 + 1 + 1);
}

// A device that waits needs its launch again, for a tensor as for parameters.
TEST(SimulateFlows, LaunchesCostTimeAtTheBeginAndAfterWaiting) {
  Random random(2, "cold launch");
  Graph graph = cold_graph({{1, 2}, {1, 6}, {1, 5}}, {{1, 3}});
  Profile profile = test::random_profile(graph, test::devices(2, 1), random);
  Configuration& configuration = profile.configurations.front();
  for (auto& [signature, times] : configuration.operators) times.ms = 4;
  configuration.launch = {0.5, 0, 1};
  const Platform platform = cold_server(
      2, {1, 1},
      {{dram, d0, {BusId(0)}}, {dram, d1, {BusId(1)}}, {d0, d1, {}, 3, 1}, {d1, d0, {}, 3, 1}});
  const CostModel costs = CostModel::from_profile(graph, platform, profile);
  EXPECT_DOUBLE_EQ(costs.link_ms(EdgeId(0), d0, d1), 4) << "the route, not the profile's curve";
  Schedule schedule{{{stage({{1}}), stage({{2}})}, {stage({{3}})}}};
  schedule.weights = Weights{{{{v2, dram, d0}}, {{v3, dram, d1}}}};
  schedule.weights->resident = {{v1, d0}};
  const Timeline timeline = simulate(graph, schedule, costs);
  expect_stage(timeline, d0, 0, 0.5, 4.5);
  expect_stage(timeline, d0, 1, 6.5, 10.5);
  expect_stage(timeline, d1, 0, 4.5 + 4 + 0.5, 13);
  schedule.weights->resident = {{v1, d0}, {v2, d0}};
  schedule.weights->lanes.erase(schedule.weights->lanes.begin());
  expect_stage(simulate(graph, schedule, costs), d0, 1, 4.5, 8.5);
}

TEST(SimulateFlows, CountsStagesWhoseCostIsAnEstimate) {
  Random random(3, "cold estimate");
  Graph graph = cold_graph({{1, 0}, {1, 0}}, {});
  Profile profile = test::random_profile(graph, test::devices(1, 2), random);
  profile.configurations.front().stages.clear();
  const Schedule schedule{{{stage({{1}, {2}})}}};
  const Platform platform = one_bus_device();
  const CostModel costs = CostModel::from_profile(graph, platform, profile);
  EXPECT_EQ(simulate(graph, schedule, costs).estimated_stages, 1u);
}

/// Returns the message of the logic_error by which the simulation ends.
std::string refusal(const Graph& graph, const Platform& platform, const Schedule& schedule) {
  try {
    simulated(graph, platform, schedule);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "no logic_error";
}

TEST(SimulateFlows, NamesTheLoadOrTheStageOfADeadlock) {
  const Graph graph = cold_graph({{1, 2}, {1, 2}}, {});
  EXPECT_EQ(refusal(graph, one_bus_device(), in_order(graph, {{{{v1, dram, d0}}}})),
            "simulate: the schedule never ends: stage 1 of 'gpu0' waits for the parameters 'v2'");
  EXPECT_EQ(
      refusal(graph, one_bus_device(3), in_order(graph, {{{{v1, dram, d0}, {v2, dram, d0}}}})),
      "simulate: the schedule never ends: load 1 of lane 0, of the parameters 'v2' to "
      "'gpu0', waits for room there");
  const Platform two =
      cold_server(2, {}, {{dram, d0, {}}, {dram, d1, {}}, {d0, d1, {}}, {d1, d0, {}}});
  Schedule schedule{{{stage({{1}}), stage({{2}})}, {}}};
  schedule.weights = Weights{{{{v1, d1, d0}}, {{v1, d0, d1}}}};
  EXPECT_EQ(refusal(graph, two, schedule),
            "simulate: the schedule never ends: load 0 of lane 0, of the parameters 'v1' to "
            "'gpu0', waits until 'gpu1' holds them");
  const Graph chain = cold_graph({{1, 0}, {1, 0}}, {{1, 2}});
  EXPECT_EQ(refusal(chain, one_bus_device(), Schedule{{{stage({{2}}), stage({{1}})}}}),
            "simulate: the schedule never ends: stage 0 of 'gpu0' waits for other stages in a "
            "cycle");
}

TEST(SimulateFlows, RefusesSchedulesThatValidateRefuses) {
  const Graph graph = cold_graph({{1, 2}, {1, 0}}, {});
  const auto with = [&](const Weights& weights) {
    return refusal(graph, one_bus_device(), in_order(graph, weights));
  };
  Weights weights;
  weights.lanes = {{{v2, dram, d0}}};
  EXPECT_EQ(with(weights), "simulate: 'v2' has no parameters");
  weights = {};
  weights.resident = {{v1, d0}};
  weights.evictions = {{v1, d0, v1}, {v1, d0, v2}};
  EXPECT_EQ(with(weights), "simulate: 'gpu0' evicts the parameters 'v1', which it does not hold");
  weights = {};
  weights.in_place = {{v1, dram}};
  EXPECT_EQ(with(weights), "simulate: 'v1' has no in_place_ms for its device");
  EXPECT_EQ(refusal(graph, one_bus_device(), Schedule{{{stage({{1}})}}}),
            "simulate: an operator is missing from the schedule or in it twice");
}

}  // namespace
}  // namespace hios
