#include "scheduler/split/modules/components.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/sanitized.h"

namespace hios::scheduler::split {
namespace {

/// A set of operators as bits.
using Set = std::uint32_t;

Set set_of(const std::vector<OpId>& operators) {
  Set set = 0;
  for (OpId op : operators) set |= Set{1} << op.index();
  return set;
}

/// Returns true if at least k edges cross each division of the set in two, by trying all of them.
bool stays_connected(const Graph& graph, Set set, std::size_t k) {
  for (Set side = (set - 1) & set; side != 0; side = (side - 1) & set) {
    std::size_t crossing = 0;
    for (const Edge& edge : graph.edges()) {
      const Set from = Set{1} << edge.from.index(), to = Set{1} << edge.to.index();
      if ((from & set) == 0 || (to & set) == 0) continue;
      if (((from & side) == 0) != ((to & side) == 0)) ++crossing;
    }
    if (crossing < k) return false;
  }
  return true;
}

/// Returns the largest sets that stay connected, by trying all sets.
std::vector<Set> slow_components(const Graph& graph, std::size_t k) {
  std::vector<Set> found;
  for (Set set = 1; set < Set{1} << graph.size(); ++set) {
    if (stays_connected(graph, set, k)) found.push_back(set);
  }
  std::vector<Set> largest;
  for (Set set : found) {
    const bool within = std::any_of(found.begin(), found.end(), [&](Set other) {
      return other != set && (set & other) == set;
    });
    if (!within) largest.push_back(set);
  }
  return largest;
}

void expect_modules(const Graph& graph, std::size_t channels, std::size_t most) {
  std::vector<std::size_t> module(graph.size(), graph.size());
  const auto modules = modules_by_components(graph, channels, most);
  for (std::size_t m = 0; m < modules.size(); ++m) {
    EXPECT_FALSE(modules[m].empty());
    for (OpId op : modules[m]) {
      EXPECT_EQ(module[op.index()], graph.size()) << "an operator is in two modules";
      module[op.index()] = m;
    }
  }
  EXPECT_EQ(std::count(module.begin(), module.end(), graph.size()), 0);
  for (const Edge& edge : graph.edges()) {
    EXPECT_LE(module[edge.from.index()], module[edge.to.index()]);
  }
  for (const auto& component : edge_connected_components(graph, channels + 1)) {
    for (OpId op : component) EXPECT_EQ(module[op.index()], module[component.front().index()]);
  }
}

TEST(Components, AreTheLargestSetsThatStayConnected) {
  for (std::uint64_t seed = 0; seed < test::tries(300u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "components");
    const std::size_t n = 1 + seed % 8;
    // The union of two random sets has many edges.
    const std::uint64_t all = std::uint64_t{1} << (n * (n - 1) / 2);
    const std::uint64_t edges = random.below(all) | (seed % 3 == 0 ? 0 : random.below(all));
    const Graph graph = test::dag(n, edges, {}, random);
    for (std::size_t k = 1; k <= 4; ++k) {
      std::vector<Set> sets;
      for (const auto& component : edge_connected_components(graph, k)) {
        sets.push_back(set_of(component));
      }
      std::sort(sets.begin(), sets.end());
      std::vector<Set> expected = slow_components(graph, k);
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(sets, expected) << k << " edges";
      expect_modules(graph, k, 3);
    }
    if (HasFailure()) return;
  }
}

/// Two dense modules of four operators, which two edges connect.
TEST(Components, AreModulesWithSeveralChannels) {
  std::vector<Edge> edges;
  for (std::size_t first : {0, 4}) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) {
        edges.push_back({OpId(first + i), OpId(first + j), 0, 0});
      }
    }
  }
  edges.push_back({OpId(2), OpId(4), 0, 0});
  edges.push_back({OpId(3), OpId(5), 0, 0});
  std::vector<Operator> operators(8);
  for (std::size_t i = 0; i < 8; ++i) {
    operators[i].name = std::to_string(i);
    operators[i].time_ms = 1;
  }
  const Graph graph("two modules", std::move(operators), std::move(edges));
  EXPECT_EQ(edge_connected_components(graph, 2).size(), 1u);
  EXPECT_EQ(edge_connected_components(graph, 3).size(), 2u);
  EXPECT_EQ(edge_connected_components(graph, 4).size(), 8u);
  EXPECT_EQ(modules_by_components(graph, 2, 4).size(), 2u);
  EXPECT_EQ(modules_by_components(graph, 2, 7).size(), 2u);
  EXPECT_EQ(modules_by_components(graph, 2, 8).size(), 1u);
  EXPECT_EQ(modules_by_components(graph, 3, 3).size(), 3u) << "single operators, three a module";
}

TEST(Components, AreNoneWithoutOperators) {
  EXPECT_TRUE(edge_connected_components(Graph(), 2).empty());
  EXPECT_TRUE(modules_by_components(Graph(), 2, 8).empty());
}

}  // namespace
}  // namespace hios::scheduler::split
