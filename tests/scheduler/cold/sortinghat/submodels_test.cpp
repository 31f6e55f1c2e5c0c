#include "scheduler/cold/sortinghat/submodels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "support/graphs/dag_generator.h"

namespace hios::scheduler::sortinghat {
namespace {

using Ends = std::vector<std::pair<std::size_t, std::size_t>>;

Graph graph_of(std::size_t n, const Ends& ends, const std::vector<std::size_t>& with_parameters) {
  std::vector<Operator> operators(n);
  for (std::size_t v = 0; v < n; ++v) operators[v].name = "v" + std::to_string(v);
  for (const std::size_t v : with_parameters) operators[v].parameter_bytes = 1;
  std::vector<Edge> edges;
  for (const auto& [from, to] : ends) edges.push_back({OpId(from), OpId(to), 1, {}, {}});
  return Graph("submodels", std::move(operators), std::move(edges));
}

std::vector<std::size_t> sizes(const Graph& graph, const SubmodelLimits& limits) {
  std::vector<std::size_t> result;
  for (const auto& part : submodels(graph, limits)) result.push_back(part.size());
  return result;
}

/// Returns true if some path from an operator without inputs to one without outputs avoids `op`.
bool avoidable(const Graph& graph, OpId op) {
  std::vector<bool> reached(graph.size(), false);
  for (const OpId v : graph.topological()) {
    if (v == op) continue;
    reached[v.index()] =
        graph.in_edges(v).empty() || std::ranges::any_of(graph.in_edges(v), [&](EdgeId e) {
          return reached[graph.edge(e).from.index()];
        });
    if (reached[v.index()] && graph.out_edges(v).empty()) return true;
  }
  return false;
}

TEST(Submodels, PartitionNodesAreThoseThatNoPathAvoids) {
  for (std::size_t n = 1; n <= 5; ++n) {
    for (std::uint64_t edge_set = 0; edge_set < std::uint64_t{1} << (n * (n - 1) / 2); ++edge_set) {
      SCOPED_TRACE(std::to_string(n) + " operators, edge set " + std::to_string(edge_set));
      Random random(edge_set);
      const Graph graph = test::dag(n, edge_set, {}, random);
      std::vector<OpId> expected;
      for (const OpId op : graph.topological()) {
        if (!avoidable(graph, op)) expected.push_back(op);
      }
      ASSERT_EQ(partition_nodes(graph), expected);
    }
  }
}

// Fig. 6: A, then B and C, then D, then E and F, then G.
TEST(Submodels, EndAtDominators) {
  const Graph graph = graph_of(7, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {3, 5}, {4, 6}, {5, 6}},
                               {0, 1, 2, 3, 4, 5, 6});
  EXPECT_EQ(sizes(graph, {}), (std::vector<std::size_t>{1, 3, 3}));
  EXPECT_EQ(sizes(graph, {.dominators = 2}), (std::vector<std::size_t>{4, 3}));
}

TEST(Submodels, ChainsWithoutParametersAreMergedWithTheNext) {
  const Graph graph = graph_of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, {2});
  EXPECT_EQ(sizes(graph, {}), (std::vector<std::size_t>{5}));
  EXPECT_EQ(sizes(graph, {.operators = 3}), (std::vector<std::size_t>{3, 2}));
}

// Cells of four operators, each of which reads two tensors of the one before: no dominator is
// between them.
TEST(Submodels, AreCutWhereFewTensorsCross) {
  Ends ends;
  for (const std::size_t cell : {0, 4, 8}) {
    for (const std::size_t inner : {1, 2}) {
      ends.emplace_back(cell, cell + inner);
      ends.emplace_back(cell + inner, cell + 3);
      if (cell == 8) continue;
      ends.emplace_back(cell + 3, cell + 4);
      ends.emplace_back(cell + 3, cell + 5);
    }
  }
  ends.emplace_back(2, 5);
  ends.emplace_back(6, 9);
  const Graph graph = graph_of(12, ends, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_EQ(sizes(graph, {.operators = 4}), (std::vector<std::size_t>{1, 3, 4, 4}));
}

TEST(Submodels, AreTheTopologicalOrderInParts) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "submodels");
    const Graph graph = test::random_graph(1 + random.below(60), 0.1, {}, random);
    std::vector<OpId> together;
    for (const auto& part : submodels(graph, {.operators = 8})) {
      EXPECT_LE(part.size(), 8u);
      together.insert(together.end(), part.begin(), part.end());
    }
    EXPECT_TRUE(std::ranges::equal(together, graph.topological()));
  }
}

}  // namespace
}  // namespace hios::scheduler::sortinghat
