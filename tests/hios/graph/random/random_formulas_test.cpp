#include <gtest/gtest.h>

#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "support/message.h"

// Networks by formula: how many operators and edges, work, weights, and what depends on what.

namespace hios {
namespace {

double work_ms(const Graph& graph) {
  double sum = 0;
  for (const Operator& op : graph.operators()) sum += op.time_ms;
  return sum;
}

double parameters_of(const Graph& graph) {
  double sum = 0;
  for (const Operator& op : graph.operators()) sum += static_cast<double>(op.parameter_bytes);
  return sum / 4;
}

TEST(RandomFormulas, BertIsAsLargeAsItShouldBe) {
  const RandomDag parameters = parse_random_dag("family=bert");
  const Graph graph = random_dag(parameters);
  EXPECT_EQ(graph.size(), 12u * (3 * 12 + 10) + 2);
  EXPECT_EQ(graph.size(), parameters.operators);
  // A layer: 3 of the input, a head 2 + 1 + 2 + 1, then 1, 2, 1, 1, 1, 2; the pooler's one.
  EXPECT_EQ(graph.edge_count(), 12u * (3 + 12 * 6 + 1 + 2 + 1 + 1 + 1 + 2) + 1);
  EXPECT_LE(graph.edge_count(), parameters.edges_at_most());
  // The encoder of the base model has 85 million parameters.
  EXPECT_NEAR(parameters_of(graph) / 85.6e6, 1, 0.01);
  // 2 flops a weight and token, and attention: 22.3 GFLOP, 1 TFLOP/s.
  EXPECT_NEAR(work_ms(graph) / 22.9, 1, 0.15);
  EXPECT_EQ(graph.name().substr(0, 5), "bert-");
}

TEST(RandomFormulas, BertHasWholeLayersInARow) {
  const Graph graph = random_dag(parse_random_dag("kind=bert,layers=3,heads=2,hidden=8,length=4"));
  EXPECT_EQ(graph.size(), 3u * 16 + 2);
  for (const Edge& edge : graph.edges()) EXPECT_LT(edge.from, edge.to);
  const Reachability reach(graph);
  for (std::size_t layer = 0; layer < 3; ++layer) {
    const OpId done(1 + layer * 16 + 15);
    EXPECT_EQ(graph.op(done).name, "layer" + std::to_string(layer) + ".done");
    for (std::size_t v = 0; v < graph.size(); ++v) {
      EXPECT_FALSE(reach.independent(done, OpId(v))) << "all pass it";
    }
  }
}

TEST(RandomFormulas, LstmIsAGridOfCells) {
  const RandomDag parameters = parse_random_dag("family=lstm,layers=3,length=6,hidden=16");
  const Graph graph = random_dag(parameters);
  EXPECT_EQ(graph.size(), 3u * 6 * 5);
  // 2 + 1 + 2 inside, the state before 1 + 1 but for the first step, the layer below 1.
  EXPECT_EQ(graph.edge_count(), 18u * 5 + 15 * 2 + 12);
  EXPECT_LE(graph.edge_count(), parameters.edges_at_most());
  EXPECT_DOUBLE_EQ(parameters_of(graph), 3 * (8.0 * 16 * 16 + 8 * 16));
  const Reachability reach(graph);
  const auto output = [](std::size_t layer, std::size_t step) {
    return OpId((layer * 6 + step) * 5 + 4);
  };
  EXPECT_TRUE(reach.independent(output(0, 3), output(1, 2))) << "a front through layers and steps";
  EXPECT_FALSE(reach.independent(output(0, 2), output(1, 2)));
  EXPECT_FALSE(reach.independent(output(0, 2), output(2, 5)));
}

TEST(RandomFormulas, RefuseImpossibleParameters) {
  using test::expect_message;
  using test::message_of;
  const auto message = [](const char* words) {
    return message_of([words] { parse_random_dag(words); });
  };
  expect_message(message("family=bert,n=3"), "n: family bert has layers x (3 heads + 10) + 2");
  expect_message(message("family=lstm,n=3"), "n: family lstm has 5 x layers x length");
  expect_message(message("family=bert,heads=5"), "768 hidden numbers cannot be shared evenly");
  expect_message(message("family=bert,layers=1000000"), "more than 1000000 operators together");
  expect_message(message("family=lstm,heads=2"), "heads: family lstm has none");
  expect_message(message("family=lstm,length=0"), "length: '0' is no number from 1");
  RandomDag bert;
  bert.family = RandomDag::Family::kBert;
  expect_message(message_of([&] { random_dag(bert); }), "n: this network has 646");
}

}  // namespace
}  // namespace hios
