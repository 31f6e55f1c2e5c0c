#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "support/message.h"
#include "support/networks/depths.h"

// Networks with one source and one sink, every operator of which has a consumer in the next layer.
// random_families_test.cpp has the rules that all families keep, and pins the numbers.

namespace hios {
namespace {

using test::expect_message;
using test::message_of;

void expect_one_source_and_one_sink(const Graph& graph, std::size_t layers) {
  const std::vector<std::size_t> layer = test::depths(graph);
  EXPECT_TRUE(std::is_sorted(layer.begin(), layer.end())) << "numbered layer by layer";
  EXPECT_EQ(layer.back() + 1, layers);
  for (std::size_t v = 0; v < graph.size(); ++v) {
    EXPECT_EQ(graph.in_edges(OpId(v)).empty(), v == 0) << v;
    EXPECT_EQ(graph.out_edges(OpId(v)).empty(), v + 1 == graph.size()) << v;
    const auto edges = graph.out_edges(OpId(v));
    const bool in_the_next = std::any_of(edges.begin(), edges.end(), [&](EdgeId e) {
      return layer[graph.edge(e).to.index()] == layer[v] + 1;
    });
    EXPECT_EQ(in_the_next, v + 1 < graph.size()) << v;
  }
}

TEST(RandomTwoTerminal, HasOneSourceOneSinkAndConsumersInTheNextLayer) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Graph graph = random_dag(
        parse_random_dag("family=two-terminal,n=200,layers=14,seed=" + std::to_string(seed)));
    EXPECT_EQ(graph.size(), 200u);
    EXPECT_EQ(graph.edge_count(), 400u);
    expect_one_source_and_one_sink(graph, 14);
  }
}

/// Small and odd networks of every shape, with the fewest edges that their layers take.
TEST(RandomTwoTerminal, KeepsItsShapeWithTheFewestEdges) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed, "two-terminal shapes");
    RandomDag parameters{.operators = 3 + random.below(30),
                         .edges = 0,
                         .seed = seed,
                         .family = RandomDag::Family::kTwoTerminal};
    parameters.layers = 3 + random.below(parameters.operators - 2);
    const std::string text = message_of([&] { random_dag(parameters); });
    const std::size_t take = text.rfind(" take ");
    ASSERT_NE(take, std::string::npos) << text;
    std::size_t fewest = 0, most = 0;
    ASSERT_EQ(std::sscanf(text.c_str() + take, " take %zu to %zu", &fewest, &most), 2) << text;
    for (const std::size_t edges : {fewest, most}) {
      parameters.edges = edges;
      const Graph graph = random_dag(parameters);
      EXPECT_EQ(graph.edge_count(), edges);
      expect_one_source_and_one_sink(graph, parameters.layers);
    }
    parameters.edges = {};
    expect_one_source_and_one_sink(random_dag(parameters), parameters.layers);
  }
}

TEST(RandomTwoTerminal, DependsOnItsSeedAlone) {
  std::set<std::string> digests;
  for (int seed = 0; seed < 20; ++seed) {
    const RandomDag parameters =
        parse_random_dag("family=two-terminal,seed=" + std::to_string(seed));
    const std::string digest = random_dag(parameters).digest();
    EXPECT_EQ(random_dag(parameters).digest(), digest);
    digests.insert(digest);
  }
  EXPECT_EQ(digests.size(), 20u);
}

TEST(RandomTwoTerminal, NeedsALayerBetweenSourceAndSink) {
  EXPECT_EQ(random_dag(parse_random_dag("family=two-terminal,n=2")).edge_count(), 1u);
  EXPECT_EQ(random_dag(parse_random_dag("family=two-terminal,n=3")).edge_count(), 3u);
  expect_one_source_and_one_sink(random_dag(parse_random_dag("family=two-terminal,n=5,layers=3")),
                                 3);
  for (const char* layers : {"1", "2"}) {
    const std::string words = std::string("family=two-terminal,n=5,layers=") + layers;
    expect_message(message_of([&] { parse_random_dag(words); }),
                   std::string("random network, layers: ") + layers +
                       " leaves no layer between source and sink for the rest of the 5 operators; "
                       "give 3 or more");
  }
  expect_message(message_of([] { parse_random_dag("family=two-terminal,n=5,layers=6"); }),
                 "random network, layers: 6 cannot be");
}

}  // namespace
}  // namespace hios
