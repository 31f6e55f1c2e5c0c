#include "hios/schedule/weights_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/schedule/schedule_json.h"
#include "support/expect_error.h"
#include "support/graphs/small_graph.h"
#include "support/schema.h"

namespace hios {
namespace {

using test::expect_error;
using test::stage;

constexpr DeviceId kGpu0(0), kGpu1(1);
constexpr StoreId kDram(0), kDisk(1);

/// v1 → v2 → v3, v1 → v4, on two devices, with a cold start that uses all that there is.
class WeightsJson : public testing::Test {
 protected:
  ScheduleFile file() const {
    ScheduleFile file;
    file.graph_name = graph_.name();
    file.graph_digest = graph_.digest();
    file.objective = Objective::kColdStart;
    file.has_prediction = false;
    for (const char* name : {"gpu0", "gpu1"}) {
      Device device;
      device.name = name;
      device.kind = "gpu";
      device.threads = 0;
      file.devices.push_back(device);
    }
    file.stores = {{"dram", "n1", StoreKind::kMemory}, {"disk", "", StoreKind::kDisk}};
    file.schedule.devices = {{stage({{1}}), stage({{2}}), stage({{3}})}, {stage({{4}})}};
    Weights& weights = file.schedule.weights.emplace();
    weights.lanes = {
        {{OpId(1), kDram, kGpu1}, {OpId(1), kGpu1, kGpu0}}, {}, {{OpId(3), kDisk, kGpu1}}};
    weights.in_place = {{OpId(2), kDisk}, {OpId(0), kDram}};
    weights.evictions = {{OpId(1), kGpu0, OpId(2)}};
    weights.resident = {{OpId(0), kGpu0}, {OpId(3), kGpu0}};
    weights.load_first = true;
    return file;
  }
  Json json() const { return to_json(file(), graph_); }
  ScheduleFile read(const Json& json) const {
    return schedule_from_json(JsonView(json, "s.json"), graph_);
  }

  const Graph graph_ = test::small_graph({1, 1, 1, 1}, {{1, 2, 1}, {2, 3, 1}, {1, 4, 1}});
};

TEST_F(WeightsJson, ReadsBackTheSame) {
  const Json written = json();
  test::expect_meets_schema(written);
  EXPECT_EQ(written["objective"], "cold-start");
  EXPECT_EQ(written["stores"].dump(),
            R"([{"name":"dram","host":"n1","kind":"memory"},{"name":"disk","kind":"disk"}])");
  EXPECT_EQ(written["weights"]["lanes"].dump(),
            R"([[{"of":"v2","from":"dram","to":"gpu1"},{"of":"v2","from":"gpu1","to":"gpu0"}],[],)"
            R"([{"of":"v4","from":"disk","to":"gpu1"}]])");
  EXPECT_EQ(written["weights"]["in_place"].dump(), R"({"v3":"disk","v1":"dram"})");
  EXPECT_EQ(written["weights"]["evict"].dump(), R"([{"of":"v2","from":"gpu0","after":"v3"}])");
  EXPECT_EQ(written["weights"]["resident"][1].dump(), R"({"of":"v4","on":"gpu0"})");
  EXPECT_EQ(written["weights"]["load_first"], true);
  const ScheduleFile again = read(parse_json(to_text(written), "s.json"));
  EXPECT_EQ(again.schedule, file().schedule);
  EXPECT_EQ(again.stores, file().stores);
  EXPECT_EQ(again.objective, Objective::kColdStart);
  EXPECT_EQ(to_json(again, graph_), written);
}

TEST_F(WeightsJson, TakesNoKeyAsNothing) {
  ScheduleFile plain = file();
  plain.schedule.weights = Weights{};
  plain.stores = {};
  const Json written = to_json(plain, graph_);
  test::expect_meets_schema(written);
  EXPECT_EQ(written["weights"].dump(), R"({"lanes":[]})");
  EXPECT_FALSE(written.contains("stores"));
  Json empty = written;
  empty["weights"] = Json::object();
  test::expect_meets_schema(empty);
  EXPECT_EQ(read(empty).schedule.weights, Weights{});
  EXPECT_EQ(read(written).schedule.weights, Weights{});
}

TEST_F(WeightsJson, IsAbsentWhereParametersAreThere) {
  ScheduleFile warm = file();
  warm.schedule.weights.reset();
  warm.objective = Objective::kLatency;
  const Json written = to_json(warm, graph_);
  EXPECT_FALSE(written.contains("weights"));
  EXPECT_FALSE(written.contains("stores")) << "nothing names them";
  EXPECT_EQ(read(written).schedule.weights, std::nullopt);
}

TEST_F(WeightsJson, EveryMessageNamesItsPath) {
  const auto refused = [&](const char* pointer, const Json& value, std::string_view message) {
    SCOPED_TRACE(pointer);
    Json wrong = json();
    wrong[Json::json_pointer(pointer)] = value;
    expect_error([&] { read(wrong); }, {message});
  };
  refused("/weights", 1, "s.json: $.weights: must be an object");
  refused("/weights/lane", 1, "$.weights: unknown key \"lane\"");
  refused("/weights/load_first", 1, "$.weights.load_first: must be");
  refused("/weights/lanes", Json::object(), "$.weights.lanes: must be an array");
  refused("/weights/lanes/0", Json::object(), "$.weights.lanes[0]: must be an array");
  refused("/weights/lanes/0/1/of", "z",
          "$.weights.lanes[0][1].of: the graph \"small\" has no operator \"z\"; schedule it again");
  refused("/weights/lanes/0/0/from", "tape",
          "$.weights.lanes[0][0].from: no store or device is named \"tape\"; name one of $.stores "
          "or $.devices");
  refused("/weights/lanes/0/0/to", "dram",
          "$.weights.lanes[0][0].to: no device is named \"dram\"; name one of $.devices");
  refused("/weights/lanes/0/1/to", "gpu1",
          "$.weights.lanes[0][1]: loads from a device to itself; remove it");
  refused("/weights/lanes/0/1/via", "pcie", "$.weights.lanes[0][1]: unknown key \"via\"");
  refused("/weights/in_place/z", "dram",
          "$.weights.in_place.z: the graph \"small\" has no operator");
  refused("/weights/in_place/v3", "gpu0",
          "$.weights.in_place.v3: no store is named \"gpu0\"; name one of $.stores");
  refused("/weights/evict/0/of", "z", "$.weights.evict[0].of: the graph \"small\" has no operator");
  refused("/weights/evict/0/from", "disk", "$.weights.evict[0].from: no device is named \"disk\"");
  refused("/weights/evict/0/after", "z", "$.weights.evict[0].after: the graph \"small\" has no");
  refused("/weights/resident/1/on", "x", "$.weights.resident[1].on: no device is named \"x\"");
  refused("/stores/1/name", "dram", "$.stores[1]: store \"dram\" is there twice; rename one");
  refused("/stores/1/name", "gpu0", "$.stores[1]: store \"gpu0\" has the name of a device");
  refused("/stores/1/name", "", "$.stores[1].name: must not be empty");
  refused("/stores/0/kind", "ram",
          "$.stores[0].kind: \"ram\" is unknown; use one of \"memory\", \"disk\"");
  refused("/stores/0/size", 1, "$.stores[0]: unknown key \"size\"");
  refused("/objective", "cold", "must be \"latency\", \"throughput\" or \"cold-start\"");
}

TEST_F(WeightsJson, ObjectiveAndStoresBelongToWeights) {
  Json wrong = json();
  wrong.erase("weights");
  expect_error([&] { read(wrong); }, {"$.stores: are for $.weights, which is not there"});
  wrong.erase("stores");
  expect_error([&] { read(wrong); },
               {"s.json: $: the objective is cold-start, and there is no \"weights\""});
  wrong = json();
  wrong["objective"] = "throughput";
  expect_error([&] { read(wrong); },
               {"$.weights: are for a cold start, and the objective is throughput"});
}

TEST_F(WeightsJson, LeavesTheRulesToValidate) {
  Json twice = json();
  twice["weights"]["resident"].push_back(twice["weights"]["resident"][0]);
  EXPECT_EQ(read(twice).schedule.weights->resident.size(), 3U);
}

/// A topology that has the stores in this order, and one route.
Topology topology_of(std::vector<Store> stores) {
  const std::vector<std::string> names{"gpu0", "gpu1"};
  return Topology(std::move(stores), {}, {{StoreId(0), kGpu0, {}, 0, 1}}, names);
}

TEST_F(WeightsJson, AFileTakesTheStoresOfATopologyByTheirNames) {
  const ScheduleFile mine = file();
  const Topology topology = topology_of({{"tape", "", StoreKind::kDisk},
                                         {"disk", "n2", StoreKind::kDisk},
                                         {"dram", "n1", StoreKind::kMemory}});
  const ScheduleFile taken = with_stores_of(topology, mine, "s.json");
  const Weights& weights = *taken.schedule.weights;
  EXPECT_EQ(weights.lanes[0][0].from, Holder(StoreId(2)));
  EXPECT_EQ(weights.lanes[0][1].from, Holder(kGpu1)) << "a device keeps its number";
  EXPECT_EQ(weights.lanes[2][0].from, Holder(StoreId(1)));
  EXPECT_EQ(weights.in_place[0].from, StoreId(1));
  EXPECT_EQ(weights.in_place[1].from, StoreId(2));
  EXPECT_EQ(taken.stores.size(), 3U);
  EXPECT_EQ(to_json(taken, graph_)["weights"], json()["weights"]) << "the same names";
}

TEST_F(WeightsJson, RefusesATopologyWithOtherStores) {
  const auto message = [&](std::vector<Store> stores, std::string_view text) {
    const Topology topology = topology_of(std::move(stores));
    expect_error([&] { with_stores_of(topology, file(), "s.json"); }, {text});
  };
  message({{"dram", "", StoreKind::kMemory}},
          "s.json: $.stores[1]: the platform has no store \"disk\"; give the platform that");
  message({{"dram", "", StoreKind::kDisk}, {"disk", "", StoreKind::kDisk}},
          "s.json: $.stores[0]: store \"dram\" is disk on the platform, and memory here");
}

}  // namespace
}  // namespace hios
