#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "hios/base/json/json_text.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "support/message.h"

// Graphs like those of REGAL: structure by base, tensors, costs.

namespace hios {
namespace {

RandomDag regal(const std::string& words) { return parse_random_dag("family=regal," + words); }

/// The sum of |draws| of edges of many graphs, over how many there should be.
double edges_over(const std::string& base, std::size_t n, double expected) {
  constexpr int kGraphs = 40;
  double edges = 0;
  for (int seed = 0; seed < kGraphs; ++seed) {
    const RandomDag parameters =
        regal("base=" + base + ",n=" + std::to_string(n) + ",seed=" + std::to_string(seed));
    const Graph graph = random_dag(parameters);
    EXPECT_EQ(graph.size(), n);
    EXPECT_LE(graph.edge_count(), parameters.edges_at_most());
    edges += static_cast<double>(graph.edge_count());
  }
  return edges / (kGraphs * expected);
}

TEST(RandomRegal, HasTheEdgesOfItsBase) {
  EXPECT_NEAR(edges_over("er", 100, 0.05 * 100 * 99 / 2), 1, 0.03);
  EXPECT_DOUBLE_EQ(edges_over("ba", 100, 2 * 98), 1);
  EXPECT_DOUBLE_EQ(edges_over("ws", 100, 200), 1);
  EXPECT_NEAR(edges_over("sbm", 100, 4 * 0.3 * 25 * 24 / 2 + 0.01 * 6 * 25 * 25), 1, 0.03);
  EXPECT_DOUBLE_EQ(edges_over("ba", 6, 2 * 4), 1) << "the smallest";
}

TEST(RandomRegal, CostsWhatItMovesAndAShareOfAllTensors) {
  for (const char* base : {"er", "ba", "ws", "sbm"}) {
    SCOPED_TRACE(base);
    const Graph graph = random_dag(regal(std::string("base=") + base + ",n=150,seed=5"));
    double all_ms = 0, squares = 0;
    for (const Operator& op : graph.operators())
      all_ms += static_cast<double>(op.memory_bytes) / 1e6;
    EXPECT_NEAR(all_ms / 150, 50, 3);
    double shares = 0;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      const double size_ms = static_cast<double>(graph.op(OpId(v)).memory_bytes) / 1e6;
      squares += (size_ms - 50) * (size_ms - 50);
      double moved_ms = size_ms;
      for (const EdgeId edge : graph.in_edges(OpId(v))) {
        const OpId producer = graph.edge(edge).from;
        EXPECT_LT(producer.index(), v);
        EXPECT_EQ(graph.edge(edge).size_bytes, graph.op(producer).memory_bytes);
        EXPECT_DOUBLE_EQ(*graph.edge(edge).transfer_ms,
                         static_cast<double>(graph.edge(edge).size_bytes) / 1e6);
        moved_ms += *graph.edge(edge).transfer_ms;
      }
      EXPECT_GE(graph.op(OpId(v)).time_ms, moved_ms - 1e-9);
      shares += (graph.op(OpId(v)).time_ms - moved_ms) / all_ms;
    }
    EXPECT_NEAR(std::sqrt(squares / 150), 10, 2.5);
    EXPECT_NEAR(shares / 150, 0.1 * std::sqrt(2 / M_PI), 0.015) << "of the mean of |N(0, 0.1)|";
    EXPECT_EQ(graph.stage_cost().kind, StageCostRule::Kind::kSerial);
  }
}

TEST(RandomRegal, IsOneGraphBySeed) {
  const auto text = [](const std::string& words) {
    return to_text(to_json(random_dag(regal(words))));
  };
  EXPECT_EQ(text("n=60,seed=3"), text("base=er,n=60,seed=3"));
  EXPECT_NE(text("n=60,seed=3"), text("n=60,seed=4"));
  EXPECT_EQ(random_dag(regal("n=60,seed=3")).name(), "regal-60-3");
  EXPECT_EQ(parse_random_dag("kind=regal,base=ws").base, RandomDag::Base::kWattsStrogatz);
  EXPECT_EQ(parse_random_dag("kind=regal").family, RandomDag::Family::kRegal);
}

TEST(RandomRegal, RefusesImpossibleParameters) {
  using test::expect_message;
  using test::message_of;
  expect_message(message_of([] { regal("n=5"); }), "n: 5 cannot be; family regal takes 6 to");
  expect_message(message_of([] { regal("n=20001"); }), "n: 20001 cannot be");
  expect_message(message_of([] { regal("base=e"); }), "base: \"e\" is none of er, ba, ws");
  expect_message(message_of([] { regal("heads=2"); }), "heads: family regal has none");
}

}  // namespace
}  // namespace hios
