#include "hios/graph/graph_json.h"
#include "hios/base/json/json_parse.h"
#include "hios/base/json/json_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/graph/fusion/coarsen.h"
#include "hios/graph/random/random_dag.h"
#include "hios/model/networks/networks.h"
#include "support/message.h"
#include "support/schema.h"

namespace hios {
namespace {

using test::expect_message;
using test::message_of;

Graph read_graph(const std::string& text) {
  const Json json = parse_json(text, "g.json");
  return graph_from_json(JsonView(json, "g.json"));
}

std::string graph_text(const std::string& operators, const std::string& edges,
                       const std::string& more = "") {
  return R"({"format": "hios-graph", "version": 1, "name": "g", "operators": [)" + operators +
         R"(], "edges": [)" + edges + "]" + more + "}";
}

const std::string kTwo = R"({"name": "v0", "time_ms": 1.25, "utilization": 0.8, "memory_bytes": 7},
                            {"name": "v1", "time_ms": {"gpu": 2, "gpu1": 0.5}})";
const std::string kEdge = R"({"from": "v0", "to": "v1", "bytes": 12, "transfer_ms": 0.96})";

TEST(GraphIo, ReadsTheFormatAsPublished) {
  const Graph graph =
      read_graph(graph_text(kTwo + R"(, {"name": "v2", "time_ms": 0, "colocate": "x",
      "allowed": ["gpu0", "gpu1"], "parameter_bytes": 9007199254740992, "extra": {"note": [1]}})",
                            kEdge + "," + kEdge + R"(, {"from": "v0", "to": "v2",
      "bytes": 5}, {"from": "v1", "to": "v2", "transfer_ms": 0})",
                            R"(, "stage_cost": {"kind": "overlap", "weight": 0.25})"));
  EXPECT_EQ(graph.name(), "g");
  ASSERT_EQ(graph.size(), 3u);
  const Operator& first = graph.op(OpId(0));
  EXPECT_TRUE(first.has_time);
  EXPECT_EQ(first.time_ms, 1.25);
  EXPECT_EQ(first.utilization, 0.8);
  EXPECT_EQ(first.memory_bytes, 7u);
  const Operator& second = graph.op(OpId(1));
  EXPECT_FALSE(second.has_time);
  EXPECT_EQ(second.time_by_device.at("gpu"), 2);
  EXPECT_EQ(second.time_by_device.at("gpu1"), 0.5);
  EXPECT_EQ(second.utilization, 1);
  const Operator& third = graph.op(OpId(2));
  EXPECT_TRUE(third.has_time);
  EXPECT_EQ(third.colocate, "x");
  EXPECT_EQ(third.allowed, (std::vector<std::string>{"gpu0", "gpu1"}));
  EXPECT_EQ(third.parameter_bytes, std::uint64_t{1} << 53);

  ASSERT_EQ(graph.edge_count(), 4u) << "equal edges are kept";
  EXPECT_EQ(graph.edge(EdgeId(1)).size_bytes, 12u);
  EXPECT_EQ(graph.edge(EdgeId(1)).transfer_ms, 0.96);
  EXPECT_EQ(graph.edge(EdgeId(2)).transfer_ms, std::nullopt);
  EXPECT_EQ(graph.edge(EdgeId(3)).transfer_ms, 0);
  EXPECT_EQ(graph.stage_cost().kind, StageCostRule::Kind::kOverlap);
  EXPECT_EQ(graph.stage_cost().weight, 0.25);
}

TEST(GraphIo, CostsStagesSeriallyByDefault) {
  EXPECT_EQ(read_graph(graph_text(kTwo, "")).stage_cost().kind, StageCostRule::Kind::kSerial);
  EXPECT_EQ(
      read_graph(graph_text(kTwo, "", R"(, "stage_cost": {"kind": "serial"})")).stage_cost().kind,
      StageCostRule::Kind::kSerial);
  const Graph overlap = read_graph(graph_text(kTwo, "", R"(, "stage_cost": {"kind": "overlap"})"));
  EXPECT_EQ(overlap.stage_cost().weight, 0.5);
}

void expect_equal_graphs(const Graph& a, const Graph& b) {
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.digest(), b.digest());
  ASSERT_EQ(a.size(), b.size());
  ASSERT_EQ(a.edge_count(), b.edge_count());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Operator& mine = a.op(OpId(i));
    const Operator& yours = b.op(OpId(i));
    SCOPED_TRACE(mine.name);
    EXPECT_EQ(mine.name, yours.name);
    EXPECT_EQ(mine.signature, yours.signature);
    EXPECT_EQ(mine.block, yours.block);
    EXPECT_EQ(mine.time_ms, yours.time_ms);
    EXPECT_EQ(mine.has_time, yours.has_time);
    EXPECT_EQ(mine.time_by_device, yours.time_by_device);
    EXPECT_EQ(mine.utilization, yours.utilization);
    EXPECT_EQ(mine.memory_bytes, yours.memory_bytes);
    EXPECT_EQ(mine.parameter_bytes, yours.parameter_bytes);
    EXPECT_EQ(mine.parameters, yours.parameters);
    EXPECT_EQ(mine.in_place_ms, yours.in_place_ms);
    EXPECT_EQ(mine.in_place_by_device, yours.in_place_by_device);
    EXPECT_EQ(mine.in_place_bytes, yours.in_place_bytes);
    EXPECT_EQ(mine.colocate, yours.colocate);
    EXPECT_EQ(mine.allowed, yours.allowed);
  }
  for (std::size_t i = 0; i < a.edge_count(); ++i) {
    EXPECT_EQ(a.edge(EdgeId(i)).transfer_ms, b.edge(EdgeId(i)).transfer_ms);
    EXPECT_EQ(a.edge(EdgeId(i)).range, b.edge(EdgeId(i)).range);
  }
  EXPECT_EQ(a.stage_cost().kind, b.stage_cost().kind);
  EXPECT_EQ(a.stage_cost().weight, b.stage_cost().weight);
}

TEST(GraphIo, GivesBackWhatItWrote) {
  std::vector<Graph> graphs{coarsen(models::inception_v3(1, 96, 96)).graph,
                            random_dag({.operators = 60, .edges = 120, .layers = 6, .seed = 3})};
  graphs.push_back(read_graph(graph_text(kTwo, kEdge)));
  for (const Graph& graph : graphs) expect_equal_graphs(graph, read_graph(to_text(to_json(graph))));
}

TEST(GraphIo, KeepsParametersAndTheirCostsInPlace) {
  const Graph graph = read_graph(graph_text(
      R"({"name": "v0", "parameter_bytes": 9, "parameters": "w", "in_place_ms": 2.5,
          "in_place_bytes": 4},
         {"name": "v1", "parameter_bytes": 9, "parameters": "w", "in_place_ms": {"gpu": 2, "gpu1": 0}},
         {"name": "v2", "in_place_ms": 0}, {"name": "v3", "parameter_bytes": 9})",
      ""));
  EXPECT_EQ(graph.op(OpId(0)).parameters, "w");
  EXPECT_EQ(graph.op(OpId(0)).in_place_ms, 2.5);
  EXPECT_EQ(graph.op(OpId(0)).in_place_bytes, Bytes{4});
  EXPECT_EQ(graph.op(OpId(1)).in_place_ms, std::nullopt);
  EXPECT_EQ(graph.op(OpId(1)).in_place_by_device.at("gpu1"), 0);
  EXPECT_EQ(graph.op(OpId(1)).in_place_bytes, std::nullopt);
  EXPECT_EQ(graph.op(OpId(2)).in_place_ms, 0) << "without parameters it may stand there, too";
  EXPECT_TRUE(graph.op(OpId(3)).parameters.empty());
  const Json json = to_json(graph);
  test::expect_meets_schema(json);
  EXPECT_EQ(json["operators"][1]["in_place_ms"].dump(), R"({"gpu":2.0,"gpu1":0.0})");
  EXPECT_FALSE(json["operators"][3].contains("in_place_bytes"));
  expect_equal_graphs(graph, read_graph(to_text(json)));
}

TEST(GraphIo, EveryMessageNamesItsPath) {
  const auto message = [](const std::string& operators, const std::string& edges = "",
                          const std::string& more = "") {
    return message_of([&] { read_graph(graph_text(operators, edges, more)); });
  };
  const auto of_operator = [&](const std::string& fields) {
    return message(kTwo + R"(, {"name": "v2", )" + fields + "}");
  };
  const auto of_edge = [&](const std::string& fields) { return message(kTwo, "{" + fields + "}"); };

  expect_message(message(""), "g.json: $.operators: needs at least one operator");
  expect_message(message(kTwo + "," + kTwo),
                 "g.json: $.operators[2]: an earlier operator is named 'v0' too");
  expect_message(message(R"({"name": "", "time_ms": 1})"), "$.operators[0].name");
  for (const char* bad : {"-1", "-1e-9", "1e10", "\"1\"", "null", "true", "[]"}) {
    SCOPED_TRACE(bad);
    expect_message(of_operator(std::string("\"time_ms\": ") + bad),
                   "g.json: $.operators[2].time_ms: must be a number from 0 to 1000000000");
  }
  expect_message(of_operator(R"("time_ms": {})"), "$.operators[2].time_ms: names no device");
  expect_message(of_operator(R"("time_ms": {"gpu": -1})"), "$.operators[2].time_ms.gpu");
  expect_message(of_operator(R"("utilization": 0)"), "utilization: must be above 0");
  expect_message(of_operator(R"("utilization": 1.01)"), "utilization: must be a number from 0");
  for (const char* bad : {"-1", "3.9", "9007199254740993"}) {
    expect_message(of_operator(std::string("\"memory_bytes\": ") + bad),
                   "memory_bytes: must be a whole number from 0 to 9007199254740992");
  }
  expect_message(of_operator(R"("allowed": [])"), "allowed: allows no device");
  expect_message(of_operator(R"("colocate": "")"), "colocate: must not be empty");
  expect_message(of_operator(R"("parameters": "w")"),
                 "$.operators[2].parameters: names parameters of no bytes; give parameter_bytes");
  expect_message(of_operator(R"("parameter_bytes": 1, "parameters": "")"),
                 "$.operators[2].parameters: must not be empty");
  expect_message(of_operator(R"("parameter_bytes": 1, "in_place_bytes": 1)"),
                 "$.operators[2].in_place_bytes: needs in_place_ms, too");
  expect_message(of_operator(R"("in_place_ms": {})"),
                 "$.operators[2].in_place_ms: names no device; give one a time");
  expect_message(of_operator(R"("in_place_ms": {"gpu": -1})"), "$.operators[2].in_place_ms.gpu");
  expect_message(of_operator(R"("in_place_ms": -1)"),
                 "$.operators[2].in_place_ms: must be a number");
  expect_message(of_operator(R"("in_place_ms": 1, "in_place_bytes": -1)"),
                 "$.operators[2].in_place_bytes: must be a whole number");
  expect_message(of_operator(R"("parameter_bytes": 1, "parameters": "w"},
                                {"name": "v3", "parameter_bytes": 2, "parameters": "w")"),
                 "g.json: $.operators: graph 'g': 'v3' and 'v2' have parameters 'w' of different");
  expect_message(of_operator(R"("tiem_ms": 1)"), "unknown key \"tiem_ms\"");

  expect_message(of_edge(R"("from": "v0", "to": "v9", "bytes": 0)"),
                 "g.json: $.edges[0].to: no operator is named 'v9'");
  expect_message(of_edge(R"("from": "v0", "to": "v0", "bytes": 0)"),
                 "$.edges[0]: leads from an operator to itself");
  expect_message(of_edge(R"("from": "v0", "to": "v1")"), "\"bytes\" is missing");
  expect_message(of_edge(R"("from": "v0", "to": "v1", "bytes": 0, "transfer_ms": -1)"),
                 "$.edges[0].transfer_ms");
  expect_message(message(kTwo, kEdge + R"(, {"from": "v1", "to": "v0", "bytes": 0})"),
                 "g.json: $.edges: graph 'g': a cycle: ");

  expect_message(message(kTwo, "", R"(, "stage_cost": {"kind": "sum"})"),
                 "$.stage_cost.kind: 'sum' is unknown");
  expect_message(message(kTwo, "", R"(, "stage_cost": {"kind": "overlap", "weight": 1.5})"),
                 "$.stage_cost.weight");
  expect_message(message(kTwo, "", R"(, "stage_cost": {"kind": "serial", "weight": 0.5})"),
                 "unknown key \"weight\"");
  expect_message(message(kTwo, "", R"(, "costs": 1)"), "unknown key \"costs\"");
}

TEST(GraphIo, KeepsRanges) {
  const auto of_range = [](const std::string& range) {
    return graph_text(kTwo, R"({"from": "v0", "to": "v1", "bytes": 96, "range": )" + range + "}");
  };
  const Graph graph = read_graph(of_range("[32, 128]"));
  EXPECT_EQ(graph.edge(EdgeId(0)).range, (ByteRange{32, 128}));
  const Json json = to_json(graph);
  test::expect_meets_schema(json);
  expect_equal_graphs(graph, read_graph(to_text(json)));
  for (const char* bad : {"[0, 95]", "[96, 0]", "[96]", "96", "[-96, 0]", "[]", "[0, 96, 96]"}) {
    expect_message(message_of([&] { read_graph(of_range(bad)); }), "g.json: $.edges[0].range");
  }
}

TEST(GraphIo, KeepsTimesByPair) {
  const auto file = [](const std::string& edge) {
    return R"({"format": "hios-graph", "version": 1, "name": "g",
              "operators": [{"name": "a"}, {"name": "b"}],
              "edges": [{"from": "a", "to": "b", )" +
           edge + "}]}";
  };
  const std::string times = R"("transfer_ms": {"gpu0": {"cpu": 2, "gpu1": 0}, "cpu": {"gpu": 3}})";
  const Graph graph = read_graph(file(times));
  const Edge& edge = graph.edge(EdgeId(0));
  ASSERT_TRUE(edge.transfer_by_pair);
  EXPECT_EQ(edge.transfer_ms, std::nullopt);
  EXPECT_EQ(*edge.transfer_by_pair,
            (PairTimes{{"cpu", {{"gpu", 3}}}, {"gpu0", {{"cpu", 2}, {"gpu1", 0}}}}));
  const Json json = to_json(graph);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(*read_graph(to_text(json)).edge(EdgeId(0)).transfer_by_pair, *edge.transfer_by_pair);
  EXPECT_EQ(to_json(read_graph(file(R"("transfer_ms": 1)")))["edges"][0]["transfer_ms"], 1);
  const auto message = [&](const std::string& text) {
    return message_of([&] { read_graph(file(text)); });
  };
  expect_message(message(R"("transfer_ms": {})"),
                 "$.edges[0].transfer_ms: names no sender; give one a receiver and a time");
  expect_message(message(R"("transfer_ms": {"gpu0": {}})"),
                 "$.edges[0].transfer_ms.gpu0: names no receiver; give one a time");
  expect_message(message(R"("transfer_ms": {"gpu0": 1})"), "$.edges[0].transfer_ms.gpu0");
  expect_message(message(R"("transfer_ms": {"gpu0": {"cpu": -1}})"),
                 "$.edges[0].transfer_ms.gpu0.cpu: must be a number from 0");
}

TEST(GraphIo, WritesNoOperatorWithTwoKindsOfTime) {
  std::vector<Operator> operators(1);
  operators[0].name = "both";
  operators[0].has_time = true;
  operators[0].time_by_device = {{"gpu", 1.0}};
  expect_message(message_of([&] { to_json(Graph("g", operators, {})); }), "'both'");
  operators[0].time_by_device.clear();
  operators[0].in_place_ms = 1;
  operators[0].in_place_by_device = {{"gpu", 1.0}};
  expect_message(message_of([&] { to_json(Graph("g", operators, {})); }),
                 "operator 'both' has an in_place_ms for all devices and others by device");
}

}  // namespace
}  // namespace hios
