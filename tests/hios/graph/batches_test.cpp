#include "hios/graph/batches.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/base/error.h"
#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/sized_networks.h"
#include "support/expect_error.h"
#include "support/graphs/random_batches.h"

namespace hios {
namespace {

Operator sized_operator(const std::string& name, std::map<std::int64_t, double> times) {
  Operator op;
  op.name = name;
  op.memory_bytes = 400;
  op.parameter_bytes = 1000;
  op.time_by_size["cpu"] = std::move(times);
  return op;
}

/// a -> b, four inputs; two of a take 1.5 ms, b's times grow with the inputs.
Graph two_operators() {
  return Graph("two",
               {sized_operator("a", {{1, 1}, {2, 1.5}, {4, 2}}),
                sized_operator("b", {{1, 1}, {2, 2}, {3, 3}, {4, 4}})},
               {{OpId(0), OpId(1), 402, 8.0}}, {}, 4);
}

SizedGraphs sizes_of(const Graph& graph, std::int64_t parts) {
  return SizedGraphs(graph, batch_sizes(graph.inputs(), parts));
}

TEST(BatchSizes, AreTheMultiplesOfTheSmallest) {
  EXPECT_EQ(batch_sizes(16, std::int64_t{4}), (BatchSizes{4, 8, 12, 16}));
  EXPECT_EQ(batch_sizes(3, std::int64_t{1}), BatchSizes{3});
  test::expect_error<InputError>([] { batch_sizes(10, std::int64_t{4}); },
                                 {"4 parts do not divide 10 inputs evenly"});
  EXPECT_EQ(batch_sizes(8, {{OpId(0), {0, 3}}, {OpId(0), {3, 8}}}), (BatchSizes{3, 5, 8}));
}

TEST(Divide, BatchesThatOneOperatorReadsLieTogether) {
  const SizedGraphs graphs = sizes_of(two_operators(), 4);
  const auto first_of = [&](std::vector<Batch> batches) {
    std::vector<std::size_t> first;
    for (const OpId op : batches_together(divide(graphs, std::move(batches)))) {
      first.push_back(op.index());
    }
    return first;
  };
  const std::vector<Batch> a = {{OpId(0), {0, 1}}, {OpId(0), {1, 2}}, {OpId(0), {2, 4}}};
  const auto with = [&](std::vector<InputRange> b) {
    std::vector<Batch> all = a;
    for (const InputRange& inputs : b) all.push_back({OpId(1), inputs});
    return all;
  };
  using Firsts = std::vector<std::size_t>;
  EXPECT_EQ(first_of(with({{0, 4}})), (Firsts{0, 0, 0, 3}));
  EXPECT_EQ(first_of(with({{0, 2}, {2, 4}})), (Firsts{0, 0, 2, 3, 4}));
  EXPECT_EQ(first_of(with({{0, 1}, {1, 3}, {3, 4}})), (Firsts{0, 1, 1, 3, 4, 5}));
}

TEST(Divide, AnEdgeLeadsToWhoeverReadsSomeOfTheInputs) {
  const SizedGraphs graphs = sizes_of(two_operators(), 4);
  const Graph graph =
      divide(graphs, {{OpId(1), {3, 4}}, {OpId(0), {0, 2}}, {OpId(0), {2, 4}}, {OpId(1), {0, 3}}});
  ASSERT_EQ(graph.size(), 4u);
  EXPECT_EQ(graph.op(OpId(0)).name, "a[0, 2)");
  EXPECT_EQ(graph.op(OpId(2)).name, "b[0, 3)");
  EXPECT_EQ(graph.op(OpId(0)).time_by_device.at("cpu"), 1.5);
  EXPECT_EQ(graph.op(OpId(3)).memory_bytes, 100u);
  EXPECT_EQ(graph.op(OpId(3)).parameter_bytes, 1000u);
  ASSERT_EQ(graph.edge_count(), 3u);
  const auto expect_edge = [&](std::size_t e, std::size_t from, std::size_t to, Bytes bytes,
                               double ms) {
    EXPECT_EQ(graph.edge(EdgeId(e)).from, OpId(from));
    EXPECT_EQ(graph.edge(EdgeId(e)).to, OpId(to));
    EXPECT_EQ(graph.edge(EdgeId(e)).size_bytes, bytes) << "rounded up";
    EXPECT_EQ(graph.edge(EdgeId(e)).transfer_ms, ms);
  };
  expect_edge(0, 0, 2, 201, 4);
  expect_edge(1, 1, 2, 101, 2);
  expect_edge(2, 1, 3, 101, 2);
  EXPECT_EQ(graph.digest(), graphs.whole()->digest());
  EXPECT_EQ(graph.batching()->holder(OpId(0), 3), OpId(1));
  EXPECT_EQ(graph.batch(OpId(3)), (Batch{OpId(1), {3, 4}}));
}

TEST(Divide, OneBatchOfAllIsTheWholeGraph) {
  const SizedGraphs graphs = sizes_of(two_operators(), 2);
  const Graph graph = divide(graphs, even_batches(*graphs.whole(), 4, 1));
  ASSERT_EQ(graph.size(), 2u);
  EXPECT_EQ(graph.op(OpId(1)).name, "b");
  EXPECT_EQ(graph.edge(EdgeId(0)).size_bytes, 402u);
  EXPECT_EQ(graph.counted_inputs(), 4);
}

TEST(Divide, RefusesWhatIsNotEachInputOnce) {
  const SizedGraphs graphs = sizes_of(two_operators(), 4);
  const auto dividing = [&](std::vector<Batch> of_a) {
    return [&graphs, of_a] {
      std::vector<Batch> all = of_a;
      all.push_back({OpId(1), {0, 4}});
      divide(graphs, all);
    };
  };
  test::expect_error<InputError>(dividing({{OpId(0), {0, 2}}}),
                                 {"operator \"a\" does not run inputs [2, 4)"});
  test::expect_error<InputError>(dividing({{OpId(0), {0, 2}}, {OpId(0), {1, 4}}}),
                                 {"operator \"a\" runs input 1 twice"});
  test::expect_error<InputError>(dividing({{OpId(0), {0, 8}}}),
                                 {"operator \"a\" runs inputs [0, 8), and there are 4"});
  test::expect_error<InputError>(dividing({{OpId(0), {0, 1}}, {OpId(0), {1, 4}}}),
                                 {"operator \"a\" has no costs for 3 inputs at a time"});
}

TEST(Divide, EachBatchBringsItsWeights) {
  const SizedGraphs graphs = sizes_of(two_operators(), 4);
  const Graph graph = divide(graphs, even_batches(*graphs.whole(), 4, 2));
  Device device;
  device.name = "cpu0";
  device.kind = "cpu";
  device.streams = 1;
  device.memory_bytes = 2 * 400 + 4 * 1000;
  const Schedule schedule{{one_operator_stages({OpId(0), OpId(1), OpId(2), OpId(3)})}};
  EXPECT_TRUE(validate(graph, Platform({device}), schedule).empty());
  --device.memory_bytes;
  EXPECT_EQ(validate(graph, Platform({device}), schedule).size(), 1u);
}

TEST(Divide, ABatchWaitsForThoseThatHoldItsInputs) {
  const SizedGraphs graphs = sizes_of(two_operators(), 4);
  const Graph graph = divide(graphs, even_batches(*graphs.whole(), 4, 2));
  const Platform platform = Platform::homogeneous(2, "cpu", 1, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  // a of the first two, then of the others, on one device; b on the other.
  const Schedule schedule{
      {one_operator_stages({OpId(0), OpId(1)}), one_operator_stages({OpId(2), OpId(3)})}};
  // 1.5 + 4 + 2, and the second pair's transfer has gone meanwhile: 3 + 4 is before 7.5.
  EXPECT_DOUBLE_EQ(simulate(graph, schedule, costs).latency_ms, 9.5);
}

TEST(GraphFile, KeepsInputsAndTimesBySize) {
  const Graph graph = two_operators();
  const Json json = to_json(graph);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["inputs"], 4);
  EXPECT_EQ(json["operators"][0]["time_ms"]["cpu"]["2"], 1.5);
  const Graph again = graph_from_json(JsonView(json, "graph.json"));
  EXPECT_EQ(again.inputs(), 4);
  EXPECT_EQ(again.digest(), graph.digest());
  EXPECT_EQ(again.op(OpId(1)).time_by_size, graph.op(OpId(1)).time_by_size);
}

TEST(GraphFile, RefusesSizesThatAreNone) {
  Json json = to_json(two_operators());
  const auto reading = [&] { graph_from_json(JsonView(json, "graph.json")); };
  json["operators"][0]["time_ms"]["cpu"] = {{"5", 1.0}};
  test::expect_error<InputError>(reading, {"its key must be a number of inputs, 1 to 4"});
  json["operators"][0]["time_ms"]["cpu"] = {{"02", 1.0}};
  test::expect_error<InputError>(reading, {"its key must be a number of inputs, 1 to 4"});
  json["operators"][0]["time_ms"]["cpu"] = Json::object();
  test::expect_error<InputError>(reading, {"names no number of inputs"});
  json["operators"][0]["time_ms"]["cpu"] = {{"2", 1.0}};
  json.erase("inputs");
  test::expect_error<InputError>(reading, {"its key must be a number of inputs, 1 to 1"});
}

Network mixing_network(std::int64_t batch) {
  ModelBuilder builder("mixing", {batch, 2, 3, 3});
  const TensorId relu = builder.relu("first", builder.input());
  builder.add("mean", Reduce{Reduce::Function::kMean, {.n = true}}, {relu});
  return Network(std::move(builder).build());
}

TEST(SizedNetworks, RefusesLayersThatComputeOverInputs) {
  test::expect_error<InputError>(
      [] { SizedNetworks(batch_sizes(4, std::int64_t{2}), mixing_network); },
      {"the layer \"mean\" of \"mixing\" does not compute each input by itself"});
  EXPECT_NO_THROW(SizedNetworks(batch_sizes(4, std::int64_t{1}), mixing_network));
}

TEST(SizedNetworks, RefusesOtherLayersForOtherNumbers) {
  const auto made = [](std::int64_t batch) {
    ModelBuilder builder("growing", {batch, 2, 3, 3});
    TensorId x = builder.input();
    for (std::int64_t i = 0; i < batch; ++i) x = builder.relu("r" + std::to_string(i), x);
    return Network(std::move(builder).build());
  };
  test::expect_error<InputError>([&] { SizedNetworks(batch_sizes(4, std::int64_t{2}), made); },
                                 {"has other layers for 2 inputs than for 4"});
}

}  // namespace
}  // namespace hios
