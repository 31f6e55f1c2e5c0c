#include "hios/platform/topology.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/graphs/small_graph.h"
#include "support/message.h"

namespace hios {
namespace {

using test::d0;
using test::d1;
using test::d2;
using test::expect_message;
using test::message_of;

constexpr StoreId kMainMemory(0), kSsd(1);
constexpr BusId kDown(0), kUp(1), kRead(2);

const std::array<std::string, 3> kGpuNames = {"gpu0", "gpu1", "gpu2"};
const std::vector<Store> kStores = {{"dram", "n1", StoreKind::kMemory},
                                    {"ssd", "n1", StoreKind::kDisk}};
const std::vector<Bus> kBuses = {{"down", 12}, {"up", 10}, {"read", 3}};

Topology topology_of(std::vector<Route> routes) {
  return Topology(kStores, kBuses, std::move(routes), kGpuNames);
}

TEST(Topology, FindsRoutesByTheirEnds) {
  const Topology topology = topology_of({{kMainMemory, d0, {kDown}, 0.01, 20},
                                         {kSsd, d0, {kRead, kDown}, 0.1, 20},
                                         {d0, d1, {kUp, kDown}, 0.02, 8},
                                         {d1, d0, {}, 0.5, 2}});
  EXPECT_EQ(topology.find(kMainMemory, d0), RouteId(0));
  EXPECT_EQ(topology.find(kSsd, d0), RouteId(1));
  EXPECT_EQ(topology.find(d0, d1), RouteId(2));
  EXPECT_EQ(topology.find(d1, d0), RouteId(3)) << "store 1 and device 1 are different ends";
  EXPECT_EQ(topology.find(kMainMemory, d1), std::nullopt);
  EXPECT_EQ(topology.find(d2, d0), std::nullopt);
  EXPECT_EQ(topology.find_store("ssd"), kSsd);
  EXPECT_EQ(topology.find_store("gpu0"), std::nullopt);
  EXPECT_EQ(topology.route(RouteId(1)).over, (std::vector<BusId>{kRead, kDown}));
}

TEST(Topology, AFlowAloneHasTheLeastBandwidth) {
  const Topology topology = topology_of({{kMainMemory, d0, {kDown}, 0.25, 20},
                                         {kSsd, d0, {kRead, kDown}, 0, 20},
                                         {d0, d1, {kUp, kDown}, 0, 8},
                                         {d1, d0, {}, 0, 2}});
  EXPECT_EQ(topology.alone_gb_per_s(RouteId(0)), 12);
  EXPECT_EQ(topology.alone_gb_per_s(RouteId(1)), 3);
  EXPECT_EQ(topology.alone_gb_per_s(RouteId(2)), 8) << "the route's own limit";
  EXPECT_EQ(topology.alone_gb_per_s(RouteId(3)), 2) << "no bus";
  EXPECT_DOUBLE_EQ(topology.alone_ms(RouteId(0), 0), 0.25);
  EXPECT_DOUBLE_EQ(topology.alone_ms(RouteId(0), 6'000'000), 0.75);
}

TEST(Topology, RefusesNames) {
  const std::vector<Route> routes = {{kMainMemory, d0, {}, 0, 1}};
  const auto message = [&](std::vector<Store> stores, std::vector<Bus> buses) {
    return message_of([&] { Topology(stores, buses, routes, kGpuNames); });
  };
  expect_message(message({{"", "", StoreKind::kMemory}}, {}), "a store has no name; give it one");
  expect_message(message(kStores, {{"", 1}}), "a bus has no name; give it one");
  expect_message(message({kStores[0], kStores[0]}, {}), "store 'dram' has the name of another");
  expect_message(message({{"gpu2", "", StoreKind::kDisk}}, {}),
                 "store 'gpu2' has the name of another; rename one");
  expect_message(message(kStores, {{"a", 1}, {"b", 1}, {"a", 2}}), "bus 'a' has the name of");
  EXPECT_NO_THROW(Topology(kStores, {{"dram", 1}, {"gpu0", 1}}, routes, kGpuNames))
      << "only buses share names with buses";
}

TEST(Topology, RefusesRoutes) {
  const auto message = [](std::vector<Route> routes) {
    return message_of([&] { topology_of(std::move(routes)); });
  };
  expect_message(message({}), "stores and buses need routes; give one");
  for (const Route& route :
       {Route{StoreId(2), d0, {}, 0, 1}, Route{kMainMemory, DeviceId(3), {}, 0, 1},
        Route{DeviceId(3), d0, {}, 0, 1}}) {
    expect_message(message({route}), "a route has an end that is neither a store nor a device");
  }
  expect_message(message({{d1, d1, {}, 0, 1}}),
                 "the route from 'gpu1' to 'gpu1' stays on one device; remove it");
  expect_message(message({{kMainMemory, d1, {}, 0, 0}}),
                 "the route from 'dram' to 'gpu1' has no bandwi");
  expect_message(message({{kMainMemory, d1, {}, 0, 5e-324}}), "give gb_per_s of 1e-9 at least");
  expect_message(message({{kMainMemory, d1, {BusId(3)}, 0, 1}}),
                 "goes over a bus that is not there");
  expect_message(message({{kMainMemory, d1, {kUp, kDown, kUp}, 0, 1}}),
                 "the route from 'dram' to 'gpu1' goes over bus 'up' twice; name it once");
  expect_message(message({{d0, d1, {kUp}, 0, 1}, {d1, d0, {kUp}, 0, 1}, {d0, d1, {}, 0, 1}}),
                 "the route from 'gpu0' to 'gpu1' is given twice; remove one");
  EXPECT_NO_THROW(topology_of({{d1, d0, {}, 0, 1}, {kSsd, d0, {}, 0, 1}}));
}

TEST(Topology, RefusesStartsAndSlowdownsOutOfRange) {
  const auto message = [](double start_ms, double slowdown, double load_slowdown) {
    Route route{kMainMemory, d0, {}, 0, 1};
    route.start_ms = start_ms;
    route.slowdown = slowdown;
    route.load_slowdown = load_slowdown;
    return message_of([&] { topology_of({route}); });
  };
  expect_message(message(-1, 1, 1), "has a start_ms below 0; give 0 or more");
  expect_message(message(0, 0.9, 1), "has a slowdown that is not in 1 to 16");
  expect_message(message(0, 1, 17), "has a slowdown that is not in 1 to 16");
  EXPECT_FALSE(topology_of({{kMainMemory, d0, {}, 0, 1}}).has_slowdowns());
  for (const double latency_ms : {-1.0, std::nan("")}) {
    expect_message(message_of([&] {
                     topology_of({{kMainMemory, d0, {}, latency_ms, 1}});
                   }),
                   "has a latency_ms below 0; give 0 or more");
  }
}

TEST(Topology, RefusesBusesWithoutBandwidth) {
  for (const double speed : {0.0, -1.0, 5e-324}) {
    expect_message(message_of([&] {
                     Topology(kStores, {{"slow", speed}}, {{kMainMemory, d0, {}, 0, 1}}, kGpuNames);
                   }),
                   "bus 'slow' has no bandwidth; give gb_per_s of 1e-9 at least");
  }
}

}  // namespace
}  // namespace hios
