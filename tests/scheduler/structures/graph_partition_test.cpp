#include "scheduler/structures/graph_partition.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios::scheduler {
namespace {

using test::v;

/// Expects every operator once, dependencies to the same or a later subgraph, and a topological
/// order within each.
void expect_order(const Graph& graph, const GraphPartition& cut, std::size_t limit) {
  std::vector<std::size_t> position(graph.size(), graph.size());
  std::size_t next = 0;
  for (const auto& subgraph : cut.subgraphs) {
    EXPECT_LE(subgraph.size(), limit);
    EXPECT_FALSE(subgraph.empty());
    for (OpId op : subgraph) {
      EXPECT_EQ(position[op.index()], graph.size()) << "twice";
      position[op.index()] = next++;
    }
  }
  EXPECT_EQ(next, graph.size());
  for (const Edge& edge : graph.edges()) {
    EXPECT_LT(position[edge.from.index()], position[edge.to.index()]);
  }
}

TEST(GraphPartition, CutsAtOperatorsComparableWithAllOthers) {
  const Graph graph = test::small_graph(
      {1, 1, 1, 1, 1, 1}, {{1, 2, 0}, {1, 3, 0}, {2, 4, 0}, {3, 4, 0}, {4, 5, 0}, {4, 6, 0}});
  const GraphPartition cut = partition_graph(graph, 32);
  EXPECT_TRUE(cut.lossless);
  EXPECT_EQ(cut.subgraphs, (std::vector<std::vector<OpId>>{v({1}), v({2, 3}), v({4}), v({5, 6})}));
}

TEST(GraphPartition, CutsExactlyAsReachabilityAllows) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "pieces");
    const Graph graph = test::random_graph(10, 0.4, {}, random);
    const GraphPartition cut = partition_graph(graph, 32);
    expect_order(graph, cut, 32);
    const Reachability reach(graph);
    std::size_t comparable = 0;
    for (std::size_t a = 0; a < graph.size(); ++a) {
      bool with_all = true;
      for (std::size_t b = 0; b < graph.size(); ++b) {
        with_all = with_all && (a == b || !reach.independent(OpId(a), OpId(b)));
      }
      if (!with_all) continue;
      ++comparable;
      EXPECT_EQ(std::count(cut.subgraphs.begin(), cut.subgraphs.end(), std::vector<OpId>{OpId(a)}),
                1);
    }
    if (comparable == 0) {
      EXPECT_EQ(cut.subgraphs.size(), 1u);
    }
  }
}

// Three cells of 20 operators with interleaved ids; each operator's consumer is its neighbour in
// the next cell. The cuts are between cells, although a topological order by ids would mix them.
TEST(GraphPartition, CutsBetweenBlocksWhereTooLarge) {
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < 60; ++i) {
    Operator op;
    op.name = std::string("v").append(std::to_string(i));
    op.block = std::string("cell_").append(std::to_string(i % 3));
    operators.push_back(op);
    if (i % 3 == 0) continue;
    Edge edge;
    edge.from = OpId(i - 1);
    edge.to = OpId(i);
    edges.push_back(edge);
  }
  const Graph graph("cells", operators, edges);
  const GraphPartition cut = partition_graph(graph, 32);
  expect_order(graph, cut, 32);
  EXPECT_FALSE(cut.lossless);
  ASSERT_EQ(cut.subgraphs.size(), 3u);
  for (const auto& subgraph : cut.subgraphs) {
    EXPECT_EQ(subgraph.size(), 20u);
    for (OpId op : subgraph) EXPECT_EQ(graph.op(op).block, graph.op(subgraph.front()).block);
  }
}

TEST(GraphPartition, WithoutBlocksCutsAlongTheOrder) {
  Random random(9, "no blocks");
  const Graph graph = test::random_graph(100, 0.01, {}, random);
  const GraphPartition cut = partition_graph(graph, 32);
  expect_order(graph, cut, 32);
  EXPECT_FALSE(cut.lossless);
  EXPECT_EQ(cut.subgraphs.size(), 4u);
}

}  // namespace
}  // namespace hios::scheduler
