// simulate_flows() against a simulator that shares no code with it, and against simulate() without
// a topology.

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/cold/slow_cold_simulator.h"

namespace hios {
namespace {

void expect_near(double ms, double expected_ms, const std::string& what) {
  EXPECT_NEAR(ms, expected_ms, 1e-6 * std::max(1.0, expected_ms)) << what;
}

void expect_equal(const Timeline& timeline, const Timeline& expected) {
  expect_near(timeline.latency_ms, expected.latency_ms, "latency");
  ASSERT_EQ(timeline.stages.size(), expected.stages.size());
  for (std::size_t d = 0; d < timeline.stages.size(); ++d) {
    ASSERT_EQ(timeline.stages[d].size(), expected.stages[d].size());
    for (std::size_t s = 0; s < timeline.stages[d].size(); ++s) {
      const std::string which = "stage " + std::to_string(s) + " of device " + std::to_string(d);
      const StageTimes& own = timeline.stages[d][s];
      const StageTimes& other = expected.stages[d][s];
      expect_near(own.awaited_ms, other.awaited_ms, which);
      expect_near(own.ready_ms, other.ready_ms, which);
      expect_near(own.start_ms, other.start_ms, which);
      expect_near(own.end_ms, other.end_ms, which);
    }
  }
  ASSERT_EQ(timeline.loads.size(), expected.loads.size());
  for (std::size_t l = 0; l < timeline.loads.size(); ++l) {
    const LoadTimes& own = timeline.loads[l];
    const LoadTimes& other = expected.loads[l];
    const std::string which = "load " + std::to_string(l);
    EXPECT_EQ(own.lane, other.lane);
    EXPECT_EQ(own.index, other.index);
    EXPECT_EQ(own.size_bytes, other.size_bytes);
    expect_near(own.ready_ms, other.ready_ms, which);
    expect_near(own.start_ms, other.start_ms, which);
    expect_near(own.end_ms, other.end_ms, which);
  }
  ASSERT_EQ(timeline.transfers.size(), expected.transfers.size());
  for (const TransferTimes& own : timeline.transfers) {
    const auto other = std::ranges::find_if(expected.transfers, [&](const TransferTimes& each) {
      return each.producer == own.producer && each.to == own.to;
    });
    ASSERT_NE(other, expected.transfers.end());
    EXPECT_EQ(own.from, other->from);
    EXPECT_EQ(own.size_bytes, other->size_bytes);
    expect_near(own.start_ms, other->start_ms, "transfer");
    expect_near(own.end_ms, other->end_ms, "transfer");
  }
}

/// Returns nothing on a deadlock.
std::optional<Timeline> timeline_of(const test::ColdCase& cold, const CostModel& costs) {
  try {
    return simulate(cold.graph, cold.schedule, costs);
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("never ends"), std::string::npos) << error.what();
    return std::nullopt;
  }
}

/// Returns the platform, most of whose devices copy what they receive.
Platform with_receivers(const Platform& platform, Random& random) {
  std::vector<Device> devices(platform.devices().begin(), platform.devices().end());
  for (Device& device : devices) {
    if (random.below(4) > 0) device.io_charge = IoCharge{0, random.uniform(0, 2)};
  }
  return platform.with_devices(std::move(devices));
}

/// Returns true if a stage begins neither when the one before it ends nor when all is there.
bool copies_delay(const Timeline& timeline) {
  for (const auto& device : timeline.stages) {
    for (const StageTimes& stage : device) {
      if (stage.start_ms > std::max(stage.awaited_ms, stage.ready_ms) + 1e-6) return true;
    }
  }
  return false;
}

TEST(RandomCold, AgreesWithASlowSimulator) {
  std::size_t deadlocks = 0, waits_for_room = 0, copies = 0, reads = 0, evictions = 0, received = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "cold");
    test::ColdStyle style;
    style.most_operators = 16;
    style.whole_numbers = seed % 3 == 0;
    style.memory = static_cast<test::ColdMemory>(std::min<std::uint64_t>(seed % 4, 2));
    test::ColdCase cold = test::random_cold_case(style, random);
    if (seed % 9 == 0) cold.schedule.weights.reset();
    if (seed % 2 == 0) cold.platform = test::with_slowdowns(cold.platform, random);
    if (seed % 7 < 3) cold.platform = with_receivers(cold.platform, random);
    Profile launches;
    if (seed % 5 == 4) {
      launches = test::random_profile(cold.graph, cold.platform, random);
      launches.configurations.front().launch = {0.5 + random.uniform(0, 2), 0, 1};
    }
    const CostModel costs = launches.configurations.empty()
                                ? CostModel::from_graph(cold.graph, cold.platform)
                                : CostModel::from_profile(cold.graph, cold.platform, launches);
    const auto timeline = timeline_of(cold, costs);
    const auto expected = test::slow_cold_timeline(cold.graph, cold.schedule, costs);
    ASSERT_EQ(timeline.has_value(), expected.has_value());
    if (style.memory != test::ColdMemory::kTight) {
      EXPECT_TRUE(timeline.has_value()) << "memory suffices";
    }
    deadlocks += !timeline;
    if (!timeline) continue;
    expect_equal(*timeline, *expected);
    if (testing::Test::HasFailure()) return;
    received += copies_delay(*timeline);
    const Weights weights = cold.schedule.weights.value_or(Weights{});
    evictions += weights.evictions.size();
    reads += weights.in_place.size();
    for (const LoadTimes& load : timeline->loads) {
      const bool copy = std::holds_alternative<DeviceId>(weights.lanes[load.lane][load.index].from);
      copies += copy;
      waits_for_room += !copy && load.start_ms > load.ready_ms;
    }
  }
  EXPECT_GT(deadlocks, 10u);
  EXPECT_GT(waits_for_room, 100u);
  EXPECT_GT(copies, 500u);
  EXPECT_GT(reads, 200u);
  EXPECT_GT(evictions, 500u);
  EXPECT_GT(received, 100u);
}

TEST(RandomCold, ValidSchedulesEnd) {
  std::size_t refused = 0, stuck = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "valid");
    test::ColdStyle style;
    style.whole_numbers = seed % 3 == 0;
    style.memory = static_cast<test::ColdMemory>(std::min<std::uint64_t>(seed % 4, 2));
    const test::ColdCase cold = test::random_cold_case(style, random);
    const auto findings = validate(cold.graph, cold.platform, cold.schedule, Objective::kColdStart);
    const bool ends =
        timeline_of(cold, CostModel::from_graph(cold.graph, cold.platform)).has_value();
    EXPECT_TRUE(ends || !findings.empty());
    if (style.memory != test::ColdMemory::kTight) {
      EXPECT_TRUE(findings.empty()) << findings.front().text;
    }
    refused += !findings.empty();
    stuck += !ends;
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(stuck, 5u);
}

/// Returns the platform's devices with a link for each of its routes between two.
Platform with_links(const Platform& platform) {
  std::vector<std::tuple<DeviceId, DeviceId, Link>> links;
  for (const Route& route : platform.topology()->routes()) {
    if (const auto* from = std::get_if<DeviceId>(&route.from)) {
      links.push_back({*from, route.to, {route.latency_ms, route.gb_per_s}});
    }
  }
  return Platform({platform.devices().begin(), platform.devices().end()}, std::move(links));
}

/// Returns the platform with a bus for each route, wide enough for all flows at once.
Platform with_private_buses(const Platform& platform) {
  const Topology& topology = *platform.topology();
  std::vector<Bus> buses;
  std::vector<Route> routes(topology.routes().begin(), topology.routes().end());
  for (Route& route : routes) {
    route.over = {BusId(buses.size())};
    buses.push_back({"private" + std::to_string(buses.size()), 1000});
  }
  return Platform({platform.devices().begin(), platform.devices().end()},
                  {topology.stores().begin(), topology.stores().end()}, std::move(buses),
                  std::move(routes));
}

TEST(RandomCold, WithoutWeightsPrivateBusesAreLinks) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "links");
    test::ColdStyle style;
    style.most_operators = 25;
    style.whole_numbers = seed % 3 == 0;
    test::ColdCase cold = test::random_cold_case(style, random);
    cold.schedule.weights.reset();
    // A stage waits for its own edges only where each has a time of its own.
    std::vector<Operator> operators(cold.graph.operators().begin(), cold.graph.operators().end());
    std::vector<Edge> edges(cold.graph.edges().begin(), cold.graph.edges().end());
    for (Edge& edge : edges) edge.transfer_ms.reset();
    const Graph graph("links", operators, edges, cold.graph.stage_cost());
    if (seed % 2 == 0) cold.platform = with_receivers(cold.platform, random);
    const Platform routes = with_private_buses(cold.platform), links = with_links(cold.platform);
    const Timeline timeline = simulate(graph, cold.schedule, CostModel::from_graph(graph, routes));
    expect_equal(timeline, simulate(graph, cold.schedule, CostModel::from_graph(graph, links)));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace hios
