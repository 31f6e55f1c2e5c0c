#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hios/graph/graph_json.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "support/message.h"
#include "support/schema.h"

namespace hios {
namespace {

using test::expect_message;
using test::message_of;

Graph network(const std::string& words) { return random_dag(parse_random_dag(words)); }

RandomProblem problem(const std::string& words) {
  return random_problem(parse_random_dag(words), Platform::homogeneous(3, "gpu", 0, 8));
}

std::size_t in_place(const Graph& graph) {
  return static_cast<std::size_t>(std::ranges::count_if(
      graph.operators(), [](const Operator& op) { return op.in_place_ms.has_value(); }));
}

TEST(RandomParameters, AreWithinTheirLimits) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Graph graph = network("n=60,parameters=1000-1003,seed=" + std::to_string(seed));
    Bytes least = ~Bytes{0}, most = 0;
    for (const Operator& op : graph.operators()) {
      least = std::min(least, op.parameter_bytes);
      most = std::max(most, op.parameter_bytes);
      EXPECT_TRUE(op.parameters.empty());
    }
    EXPECT_EQ(least, 1000U) << "one of sixty, but for a chance of 3e-8";
    EXPECT_EQ(most, 1003U);
  }
}

TEST(RandomParameters, AShareCanBeReadInPlace) {
  const Graph graph = network("n=80,parameters=1-9,in-place=0.25,seed=5");
  EXPECT_EQ(in_place(graph), 20U);
  for (const Operator& op : graph.operators()) {
    if (!op.in_place_ms) continue;
    EXPECT_GE(*op.in_place_ms, op.time_ms);
    EXPECT_LE(*op.in_place_ms, 4 * op.time_ms);
  }
  EXPECT_EQ(in_place(network("n=80,parameters=1-9,in-place=1")), 80U);
  EXPECT_EQ(in_place(network("n=80,parameters=1-9")), 0U);
  EXPECT_GT(in_place(network("family=bert,layers=1,in-place=1")), 0U) << "it has its own";
}

TEST(RandomParameters, AnOperatorIsSlowerInPlaceOnEveryDeviceAlike) {
  const Graph graph = problem("n=30,speeds=1:1:0.25,parameters=1-9,in-place=1").graph;
  for (const Operator& op : graph.operators()) {
    ASSERT_EQ(op.in_place_by_device.size(), 3U);
    const double factor = op.in_place_by_device.at("gpu0") / op.time_by_device.at("gpu0");
    for (const auto& [device, ms] : op.in_place_by_device) {
      EXPECT_NEAR(ms, factor * op.time_by_device.at(device), 1e-9);
    }
  }
}

/// Nothing else of the network depends on them.
TEST(RandomParameters, ChangeNoOtherNumber) {
  for (const char* words :
       {"n=40,seed=3", "family=regal,n=40,seed=3", "modules=4,nodes=8,seed=3"}) {
    SCOPED_TRACE(words);
    Json with = to_json(network(std::string(words) + ",parameters=1-9,in-place=0.5"));
    for (Json& op : with["operators"]) {
      op.erase("parameter_bytes");
      op.erase("in_place_ms");
    }
    EXPECT_EQ(with, to_json(network(words)));
  }
}

TEST(RandomParameters, CountForTheLimitsOfMemory) {
  const RandomProblem made = problem("n=40,memory=1,parameters=1048576-1048576,seed=2");
  Bytes held = 0, limits = 0;
  for (const Operator& op : made.graph.operators()) {
    EXPECT_EQ(op.parameter_bytes, 1048576U);
    held += op.memory_bytes + op.parameter_bytes;
  }
  for (const Device& device : made.platform.devices()) limits += device.memory_bytes;
  EXPECT_EQ(held, limits);
}

TEST(RandomParameters, KeepATopology) {
  const Platform plain = Platform::homogeneous(2, "gpu", 0, 8);
  const Platform routed({plain.devices().begin(), plain.devices().end()},
                        {{"dram", "", StoreKind::kMemory}}, {{"pcie", 10}},
                        {{StoreId(0), DeviceId(1), {BusId(0)}, 0.1, 10}});
  const RandomProblem made = random_problem(parse_random_dag("n=20,memory=2,layers=4"), routed);
  ASSERT_NE(made.platform.topology(), nullptr);
  EXPECT_EQ(*made.platform.topology(), *routed.topology());
  EXPECT_GT(made.platform.device(DeviceId(0)).memory_bytes, 0U);
}

TEST(RandomParameters, AreReadAndWritten) {
  const Json json = to_json(network("n=30,parameters=0-9,in-place=0.5,layers=5"));
  test::expect_meets_schema(json);
  EXPECT_EQ(to_json(graph_from_json(JsonView(json, "g.json"))), json);
}

TEST(RandomParameters, MessagesNameTheirKeys) {
  const auto message = [](const std::string& words) { return message_of([&] { network(words); }); };
  expect_message(message("parameters=9"),
                 "random network, parameters: \"9\" is not as 0-4000000, in bytes");
  expect_message(message("parameters=9-8"), "random network, parameters: '8' is no number from 9");
  expect_message(message("parameters=-1-8"), "random network, parameters: ''");
  expect_message(message("in-place=1.5"), "random network, in-place: '1.5' is no number from 0 to");
  expect_message(message("in-place=0.5"),
                 "random network, in-place: no operator has parameters; give them some");
}

}  // namespace
}  // namespace hios
