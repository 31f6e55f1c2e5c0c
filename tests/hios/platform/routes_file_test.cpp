#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hios/base/json/json_io.h"
#include "hios/base/json/json_parse.h"
#include "hios/base/json/json_text.h"
#include "hios/evaluate/cost_model.h"
#include "hios/platform/platform_json.h"
#include "hios/platform/topology.h"
#include "support/graphs/small_graph.h"
#include "support/message.h"
#include "support/schema.h"

// Platforms with routes: their files, their links, and the costs of tensors by them.

namespace hios {
namespace {

using test::d0;
using test::d1;
using test::expect_message;
using test::message_of;

constexpr std::string_view kDevices =
    R"("devices": [{"name": "gpu0", "kind": "gpu"}, {"name": "gpu1", "kind": "gpu"}])";
constexpr std::string_view kStoresText =
    R"("stores": [{"name": "dram", "host": "n1", "kind": "memory"},
                  {"name": "ssd", "kind": "disk"}])";
constexpr std::string_view kBusesText =
    R"("buses": [{"name": "down", "gb_per_s": 12}, {"name": "up", "gb_per_s": 10.5}])";
constexpr std::string_view kRoutesText =
    R"("routes": [{"from": "dram", "to": "gpu0", "over": ["down"], "latency_ms": 0.01,
                   "gb_per_s": 11},
                  {"from": "gpu0", "to": "gpu1", "over": ["up", "down"], "latency_ms": 0.02,
                   "gb_per_s": 9},
                  {"from": "gpu1", "to": "gpu0", "latency_ms": 0, "gb_per_s": 25}])";

/// Returns a platform of two devices and these members.
Platform routes_file(std::initializer_list<std::string_view> members) {
  std::string text = R"({"format": "hios-platform", "version": 1)";
  for (const std::string_view member : members) text.append(", ").append(member);
  const Json json = parse_json(text + "}", "p.json");
  return platform_from_json(JsonView(json, "p.json"));
}

Platform with_routes() { return routes_file({kDevices, kStoresText, kBusesText, kRoutesText}); }

TEST(TopologyIo, ReadsAndWritesTheSame) {
  const Platform platform = with_routes();
  ASSERT_TRUE(platform.topology());
  const Topology& topology = *platform.topology();
  EXPECT_EQ(topology.store(StoreId(0)), (Store{"dram", "n1", StoreKind::kMemory}));
  EXPECT_EQ(topology.store(StoreId(1)), (Store{"ssd", "", StoreKind::kDisk}));
  EXPECT_EQ(topology.bus(BusId(1)), (Bus{"up", 10.5}));
  EXPECT_EQ(topology.route(RouteId(0)), (Route{StoreId(0), d0, {BusId(0)}, 0.01, 11}));
  EXPECT_EQ(topology.route(RouteId(1)), (Route{d0, d1, {BusId(1), BusId(0)}, 0.02, 9}));
  EXPECT_EQ(topology.route(RouteId(2)), (Route{d1, d0, {}, 0, 25}));

  const Json json = to_json(platform);
  test::expect_meets_schema(json);
  EXPECT_FALSE(json["routes"][2].contains("over"));
  EXPECT_FALSE(json["stores"][1].contains("host"));
  EXPECT_EQ(*platform_from_json(JsonView(json, "p.json")).topology(), topology);
  EXPECT_EQ(to_json(platform_from_json(JsonView(json, "p.json"))), json);
}

TEST(TopologyIo, HasStartsAndSlowdownsWhereTheyAreGiven) {
  const Platform platform = routes_file({kDevices, kStoresText, R"("routes": [
      {"from": "dram", "to": "gpu0", "latency_ms": 0, "gb_per_s": 4, "start_ms": 0.5,
       "slowdown": 1.75, "load_slowdown": 2},
      {"from": "dram", "to": "gpu1", "latency_ms": 0, "gb_per_s": 4}])"});
  const Route& slow = platform.topology()->route(RouteId(0));
  EXPECT_EQ(slow.start_ms, 0.5);
  EXPECT_EQ(slow.slowdown, 1.75);
  EXPECT_EQ(slow.load_slowdown, 2);
  EXPECT_TRUE(platform.topology()->has_slowdowns());
  const Json json = to_json(platform);
  test::expect_meets_schema(json);
  EXPECT_EQ(json["routes"][0]["load_slowdown"], 2);
  for (const char* key : {"start_ms", "slowdown", "load_slowdown"}) {
    EXPECT_FALSE(json["routes"][1].contains(key)) << key;
  }
  EXPECT_EQ(*platform_from_json(JsonView(json, "p.json")).topology(), *platform.topology());
  expect_message(message_of([] {
                   routes_file({kDevices, kStoresText, R"("routes": [{"from": "dram", "to": "gpu0",
                       "latency_ms": 0, "gb_per_s": 4, "slowdown": 0.5}])"});
                 }),
                 "$.routes[0].slowdown");
}

TEST(TopologyIo, NeedsNeitherStoresNorBuses) {
  const Platform platform = routes_file({kDevices, R"("routes": [{"from": "gpu0", "to": "gpu1",
      "latency_ms": 0, "gb_per_s": 25}])"});
  const Json json = to_json(platform);
  test::expect_meets_schema(json);
  EXPECT_FALSE(json.contains("stores") || json.contains("buses"));
  EXPECT_EQ(routes_file({kDevices}).topology(), nullptr);
}

TEST(TopologyIo, EveryMessageNamesItsPath) {
  const auto message = [](std::string_view stores, std::string_view buses,
                          std::string_view routes) {
    return message_of([&] { routes_file({kDevices, stores, buses, routes}); });
  };
  const auto store = [&](const std::string& text) {
    return message(R"("stores": [{)" + text + "}]", kBusesText, kRoutesText);
  };
  expect_message(store(R"("name": "", "kind": "disk")"),
                 "p.json: $.stores[0].name: must not be empty");
  expect_message(store(R"("name": "dram")"), "$.stores[0]: the key \"kind\" is missing");
  expect_message(store(R"("name": "dram", "kind": "tape")"),
                 "$.stores[0].kind: \"tape\" is unknown; use one of \"memory\", \"disk\"");
  expect_message(store(R"("name": "dram", "kind": "disk", "gb": 1)"), "unknown key \"gb\"");
  expect_message(store(R"("name": "gpu1", "kind": "disk")"), "no store and no device is named");
  const auto bus = [&](const std::string& text) {
    return message(kStoresText, R"("buses": [{)" + text + "}]", kRoutesText);
  };
  expect_message(bus(R"("name": "down")"), "$.buses[0]: the key \"gb_per_s\" is missing");
  expect_message(bus(R"("name": "down", "gb_per_s": 0)"),
                 "$.buses[0].gb_per_s: must be a number from 1e-09");
  expect_message(bus(R"("name": "", "gb_per_s": 1)"), "$.buses[0].name: must not be empty");
  const auto route = [&](const std::string& text) {
    return message(kStoresText, kBusesText, R"("routes": [{)" + text + "}]");
  };
  const std::string ends = R"("from": "dram", "to": "gpu0")",
                    costs = R"("latency_ms": 0, "gb_per_s": 1)";
  expect_message(route(R"("from": "x", "to": "gpu0", )" + costs),
                 "$.routes[0].from: no store and no device is named 'x'; name one of $.stores or");
  expect_message(route(R"("from": "ssd", "to": "dram", )" + costs),
                 "$.routes[0].to: 'dram' is a store, and a route leads to a device");
  expect_message(route(R"("from": "ssd", "to": "x", )" + costs),
                 "$.routes[0].to: no device is named 'x'; name one of $.devices");
  expect_message(route(ends + R"(, "over": ["up", "x"], )" + costs),
                 "$.routes[0].over[1]: no bus is named 'x'; name one of $.buses");
  expect_message(route(ends + R"(, "latency_ms": -1, "gb_per_s": 1)"),
                 "$.routes[0].latency_ms: must be a number from 0");
  expect_message(route(ends + R"(, "latency_ms": 0)"), "the key \"gb_per_s\" is missing");
  expect_message(route(ends + R"(, "over": ["up", "up"], )" + costs),
                 "p.json: $: platform: the route from 'dram' to 'gpu0' goes over bus 'up' twice");
  expect_message(message_of([] {
                   routes_file({kDevices, kStoresText});
                 }),
                 "p.json: $: platform: stores and buses need routes; give one");
}

TEST(TopologyIo, RefusesLinksNextToRoutes) {
  const std::pair<std::string_view, std::string_view> others[] = {
      {"links", "[]"},
      {"default_link", R"({"latency_ms": 0, "gb_per_s": 1})"},
      {"contention", R"("none")"},
      {"routing", R"("direct")"}};
  for (const auto& [key, value] : others) {
    std::string member = "\"";
    member.append(key).append("\": ").append(value);
    const std::string_view lists[] = {kStoresText, kBusesText, kRoutesText};
    for (const std::string_view list : lists) {
      expect_message(
          message_of([&] {
            routes_file({kDevices, member, list});
          }),
          "p.json: $." + std::string(key) + ": a platform with routes has no " + std::string(key));
    }
    EXPECT_NO_THROW(routes_file({kDevices, member}));
  }
}

TEST(TopologyIo, TheServerOfTheV100s) {
  const std::string file = HIOS_SOURCE_DIR "/schedules/platforms/v100-server.json";
  const Json json = read_json(file);
  const Platform platform = platform_from_json(JsonView(json, file));
  const Topology& topology = *platform.topology();
  ASSERT_EQ(platform.size(), 4u);
  const auto bus_of = [&](const Holder& from, std::size_t to) {
    return topology.route(topology.find(from, DeviceId(to - 1)).value()).over.at(0);
  };
  EXPECT_EQ(bus_of(StoreId(0), 1), bus_of(StoreId(0), 2))
      << "Fig. 2(a): GPU1 and GPU2 share a PCIe bus";
  EXPECT_EQ(bus_of(StoreId(0), 3), bus_of(StoreId(0), 4));
  EXPECT_NE(bus_of(StoreId(0), 1), bus_of(StoreId(0), 4)) << "Fig. 2(c)";
  for (std::size_t from = 1; from <= 4; ++from) {
    for (std::size_t to = 1; to <= 4; ++to) {
      if (from == to) continue;
      const bool two_ways = from + to == 5;  // GPU1 and GPU4, GPU2 and GPU3
      EXPECT_EQ(topology.bus(bus_of(DeviceId(from - 1), to)).gb_per_s, two_ways ? 50 : 25);
    }
  }
}

TEST(PlatformWithRoutes, ItsLinksAreItsRoutes) {
  const Platform platform = with_routes();
  EXPECT_EQ(platform.link(d0, d1), (Link{0.02, 9}));
  EXPECT_EQ(platform.link(d1, d0), (Link{0, 25})) << "each direction has its own";
  const Platform one_way = routes_file({kDevices, R"("routes": [{"from": "gpu0", "to": "gpu1",
      "latency_ms": 0, "gb_per_s": 25}])"});
  EXPECT_EQ(one_way.link(d1, d0), std::nullopt);
}

TEST(PlatformWithRoutes, KeepsThemAmongOtherDevices) {
  const Platform platform = with_routes();
  std::vector<Device> devices(2);
  devices[0].name = "a";
  devices[1].name = "b";
  const Platform others = platform.with_devices(devices);
  EXPECT_EQ(*others.topology(), *platform.topology());
  EXPECT_EQ(others.device(d1).name, "b");
  EXPECT_EQ(platform.with_identities({"x", ""}).topology(), platform.topology());
  devices[1].name = "dram";
  expect_message(message_of([&] { platform.with_devices(devices); }), "store 'dram' has the name");
  const Platform linked =
      routes_file({kDevices, R"("default_link": {"latency_ms": 1, "gb_per_s": 1},
      "contention": "port")"});
  EXPECT_EQ(linked.with_devices(devices).default_link(), (Link{1, 1}));
  EXPECT_EQ(linked.with_devices(devices).contention(), Contention::kPort);
}

/// Two operators and an edge of this many bytes.
Graph pair_of(Bytes bytes, std::optional<double> transfer_ms = {}) {
  std::vector<Operator> operators(2);
  operators[0].name = "a";
  operators[1].name = "b";
  for (Operator& op : operators) {
    op.signature = "s";
    op.has_time = true;
    op.time_ms = 1;
  }
  Edge edge{.from = OpId(0), .to = OpId(1), .size_bytes = bytes, .transfer_ms = transfer_ms};
  return Graph("pair", operators, {edge});
}

TEST(CostsByRoutes, ATensorTakesItsRouteAlone) {
  const Platform platform = with_routes();
  const Graph graph = pair_of(9'000'000);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(EdgeId(0), d0, d1), 1.02);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(EdgeId(0), d1, d0), 0.36);
  EXPECT_DOUBLE_EQ(costs.mean_transfer_ms(EdgeId(0)), 0.69);
}

TEST(CostsByRoutes, AnEdgesOwnTimesWin) {
  const Platform platform = with_routes();
  const Graph graph = pair_of(9'000'000, 7);
  EXPECT_EQ(CostModel::from_graph(graph, platform).transfer_ms(EdgeId(0), d0, d1), 7);
  Edge edge{.from = OpId(0), .to = OpId(1), .size_bytes = 9'000'000, .transfer_ms = {}};
  edge.transfer_by_pair = std::make_shared<PairTimes>(PairTimes{{"gpu0", {{"gpu1", 5}}}});
  const Graph by_pair("pair", {graph.operators().begin(), graph.operators().end()}, {edge});
  const CostModel costs = CostModel::from_graph(by_pair, platform);
  EXPECT_EQ(costs.transfer_ms(EdgeId(0), d0, d1), 5);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(EdgeId(0), d1, d0), 0.36) << "other pairs have their route";
}

TEST(CostsByRoutes, AnEdgeNeedsARouteBetweenTheDevices) {
  const Platform one_way = routes_file({kDevices, R"("routes": [{"from": "gpu0", "to": "gpu1",
      "latency_ms": 0, "gb_per_s": 25}])"});
  const Graph graph = pair_of(1000);
  expect_message(
      message_of([&] { CostModel::from_graph(graph, one_way); }),
      "no transfer time from gpu1 to gpu0 for the edge a -> b: give the platform a route "
      "between the two, or the edge transfer_ms");
  const Graph timed = pair_of(1000, 2);
  EXPECT_EQ(CostModel::from_graph(timed, one_way).transfer_ms(EdgeId(0), d1, d0), 2);
  const Graph no_edges("lone", {graph.operators().begin(), graph.operators().end()}, {});
  EXPECT_NO_THROW(CostModel::from_graph(no_edges, one_way));
}

TEST(CostsByRoutes, TheRoutesWinOverAProfile) {
  Configuration measured;
  measured.kind = "gpu";
  measured.threads = 0;
  measured.ranks = 2;
  measured.operators["s"].ms = 3;
  measured.transfers = {{.from = 0, .to = 1, .points = {{0, 100}, {1 << 30, 100}}},
                        {.from = 1, .to = 0, .points = {{0, 100}, {1 << 30, 100}}}};
  Profile profile;
  profile.configurations = {measured};
  const Graph graph = pair_of(9'000'000);
  const Platform routed = with_routes();
  const CostModel costs = CostModel::from_profile(graph, routed, profile);
  EXPECT_EQ(costs.operator_ms(OpId(0), d0), 3);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(EdgeId(0), d0, d1), 1.02);
  const Platform linked =
      routes_file({kDevices, R"("default_link": {"latency_ms": 1, "gb_per_s": 1})"});
  const CostModel by_profile = CostModel::from_profile(graph, linked, profile);
  EXPECT_DOUBLE_EQ(by_profile.transfer_ms(EdgeId(0), d0, d1), 100) << "links do not";
  const Platform one_way = routes_file({kDevices, R"("routes": [{"from": "gpu0", "to": "gpu1",
      "latency_ms": 0, "gb_per_s": 25}])"});
  expect_message(message_of([&] { CostModel::from_profile(graph, one_way, profile); }),
                 "no transfer time from gpu1 to gpu0");
}

}  // namespace
}  // namespace hios
