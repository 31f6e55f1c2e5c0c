#include <cmath>

#include <gtest/gtest.h>

#include "hios/base/digest.h"
#include "hios/base/json/json_text.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "support/message.h"

// Modules in a row: wiring, ends, and costs of their own.

namespace hios {
namespace {

const char* kWirings[] = {"er0.2", "ws4-0.75", "ba5"};

std::size_t module_of(OpId op, const RandomDag& parameters) {
  return op.index() / parameters.modules.nodes;
}

TEST(RandomModules, AreJoinedByTheirChannelsAlone) {
  for (const char* wiring : kWirings) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      for (const char* ends : {"strong", "weak"}) {
        const std::string words = "modules=4,nodes=12,channels=" + std::to_string(1 + seed % 4) +
                                  ",ends=" + ends + ",wiring=" + wiring +
                                  ",seed=" + std::to_string(seed);
        SCOPED_TRACE(words);
        const RandomDag parameters = parse_random_dag(words);
        EXPECT_EQ(parameters.family, RandomDag::Family::kModules);
        const Graph graph = random_dag(parameters);
        EXPECT_EQ(graph.size(), 48u);
        EXPECT_LE(graph.edge_count(), parameters.edges_at_most());
        std::size_t between = 0;
        for (const Edge& edge : graph.edges()) {
          EXPECT_LT(edge.from, edge.to);
          const std::size_t from = module_of(edge.from, parameters);
          const std::size_t to = module_of(edge.to, parameters);
          EXPECT_LE(to, from + 1);
          between += to - from;
        }
        EXPECT_EQ(between, 3 * parameters.modules.channels);
        for (std::size_t v = 0; v < graph.size(); ++v) {
          const std::size_t c = parameters.modules.channels;
          if (v >= c) {
            EXPECT_FALSE(graph.in_edges(OpId(v)).empty());
          }
          if (v + c < graph.size()) {
            EXPECT_FALSE(graph.out_edges(OpId(v)).empty());
          }
        }
      }
    }
  }
}

TEST(RandomModules, OneChannelIsOneWayThrough) {
  const RandomDag strong = parse_random_dag("modules=5,nodes=10,seed=3");
  const RandomDag weak = parse_random_dag("modules=5,nodes=10,ends=weak,seed=3");
  const Graph graph = random_dag(strong);
  const Reachability reach(graph);
  for (std::size_t m = 0; m < 5; ++m) {
    const OpId input(10 * m), output(10 * m + 9);
    for (std::size_t v = 0; v < graph.size(); ++v) {
      EXPECT_FALSE(reach.independent(input, OpId(v)));
      EXPECT_FALSE(reach.independent(output, OpId(v)));
    }
  }
  EXPECT_EQ(to_text(to_json(graph)), to_text(to_json(random_dag(weak))));
}

TEST(RandomModules, CostWhatTheyShouldOnAverage) {
  const Graph graph = random_dag(parse_random_dag("modules=200,nodes=20,channels=2,seed=1"));
  double fast = 0, slower = 0, cpu = 0;
  for (const Operator& op : graph.operators()) {
    const double ms = op.time_by_device.at("gpu0");
    EXPECT_TRUE(ms >= 0.2 && ms <= 1.4);
    EXPECT_FALSE(op.has_time);
    fast += ms;
    slower += op.time_by_device.at("gpu1");
    cpu += op.time_by_device.at("cpu");
  }
  EXPECT_NEAR(fast / 4000, 0.8, 0.02);
  EXPECT_NEAR(slower / fast, 1.26, 0.04);
  EXPECT_NEAR(cpu / fast, 7.1, 0.7);
  for (const Edge& edge : graph.edges()) {
    EXPECT_TRUE(edge.transfer_ms >= 0.08 && edge.transfer_ms <= 0.22);
  }
  EXPECT_EQ(graph.stage_cost().kind, StageCostRule::Kind::kSerial);
}

/// Structures alone are pinned: costs may differ in their last digit by the C library.
TEST(RandomModules, AreWiredTheSameOnEveryMachine) {
  for (const char* wiring : kWirings) {
    const std::string words = std::string("modules=3,nodes=12,channels=2,wiring=") + wiring;
    EXPECT_EQ(random_dag(parse_random_dag(words)).digest(),
              random_dag(parse_random_dag(words)).digest());
    EXPECT_NE(random_dag(parse_random_dag(words)).digest(),
              random_dag(parse_random_dag(words + ",seed=1")).digest());
  }
}

TEST(RandomModules, RefuseImpossibleParameters) {
  for (const char* words :
       {"modules=2,n=10", "modules=2,channels=6", "modules=2,wiring=ws3-0.5",
        "modules=2,nodes=4,wiring=ba4", "modules=2,speeds=1:1", "modules=2,spread=0.5",
        "modules=2,width=3", "nodes=3", "modules=2,wiring=er", "modules=2,wiring=ws4"}) {
    EXPECT_NE(test::message_of([&] { random_dag(parse_random_dag(words)); }), "") << words;
  }
}

}  // namespace
}  // namespace hios
