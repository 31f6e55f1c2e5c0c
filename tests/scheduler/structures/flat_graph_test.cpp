#include "scheduler/structures/flat_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "hios/base/numbers/random.h"

namespace hios::scheduler {
namespace {

struct WeightedEdge {
  std::uint32_t other = 0;
  int weight = 0;
};

using Triple = std::tuple<std::size_t, std::size_t, int>;  // from, to, weight

FlatGraph<WeightedEdge> flat(std::size_t operators, const std::vector<Triple>& edges) {
  return FlatGraph<WeightedEdge>(operators, [&](std::size_t op, auto add) {
    for (const auto& [from, to, weight] : edges) {
      if (to == op) add({static_cast<std::uint32_t>(from), weight});
    }
  });
}

std::multiset<Triple> by_inputs(const FlatGraph<WeightedEdge>& graph) {
  std::multiset<Triple> edges;
  for (std::size_t op = 0; op < graph.operators(); ++op) {
    for (const WeightedEdge& edge : graph.inputs(op)) edges.emplace(edge.other, op, edge.weight);
  }
  return edges;
}

std::multiset<Triple> by_outputs(const FlatGraph<WeightedEdge>& graph) {
  std::multiset<Triple> edges;
  for (std::size_t op = 0; op < graph.operators(); ++op) {
    for (const WeightedEdge& edge : graph.outputs(op)) edges.emplace(op, edge.other, edge.weight);
  }
  return edges;
}

TEST(FlatGraph, HasEveryEdgeAtBothEnds) {
  Random random(1, "flat");
  for (int i = 0; i < 50; ++i) {
    const std::size_t operators = 2 + random.below(20);
    std::vector<Triple> edges;
    for (std::size_t e = 0; e < random.below(60); ++e) {
      const std::size_t to = 1 + random.below(operators - 1);
      edges.emplace_back(random.below(to), to, static_cast<int>(random.below(9)));
    }
    const std::multiset<Triple> expected(edges.begin(), edges.end());
    FlatGraph<WeightedEdge> graph = flat(operators, edges);
    EXPECT_EQ(graph.operators(), operators);
    EXPECT_EQ(graph.edges(), edges.size());
    EXPECT_EQ(by_inputs(graph), expected);
    EXPECT_EQ(by_outputs(graph), expected);

    std::multiset<Triple> turned;
    for (const auto& [from, to, weight] : edges)
      turned.emplace(operators - 1 - to, operators - 1 - from, weight);
    EXPECT_EQ(by_inputs(graph.reversed()), turned);
    EXPECT_EQ(by_outputs(graph.reversed()), turned);

    graph.change_inputs([](WeightedEdge& edge, std::size_t op) {
      edge.weight = static_cast<int>(100 * op + edge.other);
    });
    EXPECT_EQ(by_outputs(graph), expected) << "as before, until it is mirrored";
    graph.mirror();
    EXPECT_EQ(by_outputs(graph), by_inputs(graph));
    for (const auto& [from, to, weight] : by_outputs(graph))
      EXPECT_EQ(weight, static_cast<int>(100 * to + from));
  }
}

TEST(FlatGraph, KeepsTheOrderOfBothLists) {
  const FlatGraph<WeightedEdge> graph(
      3,
      [](std::size_t op, auto add) {
        if (op == 2) {
          add({1, 10});
          add({0, 20});
        }
      },
      [](std::size_t op, auto add) {
        if (op < 2) add({2, static_cast<int>(20 - 10 * op)});
      });
  ASSERT_EQ(graph.inputs(2).size(), 2u);
  EXPECT_EQ(graph.inputs(2)[0].other, 1u);
  EXPECT_EQ(graph.inputs(2)[1].other, 0u);
  EXPECT_EQ(graph.outputs(0)[0].weight, 20);
  EXPECT_TRUE(graph.outputs(2).empty());
}

TEST(FlatGraph, IsEmptyWithoutOperators) {
  const FlatGraph<WeightedEdge> graph;
  EXPECT_EQ(graph.operators(), 0u);
  EXPECT_EQ(graph.edges(), 0u);
  EXPECT_EQ(graph.reversed().operators(), 0u);
}

}  // namespace
}  // namespace hios::scheduler
