#include "hios/graph/graph.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "support/message.h"

namespace hios {
namespace {

using test::expect_message;
using test::message_of;

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Operators "a", "b", … and edges between them.
Graph graph_of(std::size_t operators, const Pairs& pairs) {
  std::vector<Operator> ops(operators);
  for (std::size_t v = 0; v < operators; ++v)
    ops[v].name = std::string(1, static_cast<char>('a' + v));
  std::vector<Edge> edges;
  for (const auto& [from, to] : pairs) edges.push_back({OpId(from), OpId(to), 8, {}});
  return Graph("g", std::move(ops), std::move(edges));
}

std::vector<std::size_t> indices(std::span<const OpId> ids) {
  std::vector<std::size_t> result;
  for (const OpId id : ids) result.push_back(id.index());
  return result;
}

TEST(Graph, IsEmptyByDefault) {
  const Graph none;
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.edge_count(), 0u);
  EXPECT_TRUE(none.topological().empty());
  EXPECT_EQ(none.find("a"), std::nullopt);
  EXPECT_EQ(Graph("empty", {}, {}).size(), 0u);
}

TEST(Graph, ListsEdgesByTheirEnds) {
  const Graph graph = graph_of(4, {{0, 2}, {1, 2}, {0, 2}, {2, 3}, {0, 3}});
  const auto in = graph.in_edges(OpId(2));
  EXPECT_EQ(std::vector<EdgeId>(in.begin(), in.end()),
            (std::vector{EdgeId(0), EdgeId(1), EdgeId(2)}));
  const auto out = graph.out_edges(OpId(0));
  EXPECT_EQ(std::vector<EdgeId>(out.begin(), out.end()),
            (std::vector{EdgeId(0), EdgeId(2), EdgeId(4)}));
  EXPECT_TRUE(graph.in_edges(OpId(0)).empty());
  EXPECT_TRUE(graph.out_edges(OpId(3)).empty());
}

TEST(Graph, FindsOperatorsByName) {
  const Graph graph = graph_of(5, {});
  for (std::size_t v = 0; v < 5; ++v) EXPECT_EQ(graph.find(graph.op(OpId(v)).name), OpId(v));
  EXPECT_EQ(graph.find("f"), std::nullopt);
  EXPECT_EQ(graph.find(""), std::nullopt);
}

TEST(Graph, OrdersSmallestReadyOperatorFirst) {
  EXPECT_EQ(indices(graph_of(4, {}).topological()), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(indices(graph_of(5, {{4, 0}, {3, 1}, {0, 2}}).topological()),
            (std::vector<std::size_t>{3, 1, 4, 0, 2}));
}

TEST(Graph, RefusesBadEdgesAndNames) {
  expect_message(message_of([] {
                   graph_of(3, {{1, 1}});
                 }),
                 "graph 'g': operator 'b' has an edge to itself");
  expect_message(message_of([] {
                   graph_of(3, {{0, 1}, {1, 7}});
                 }),
                 "edge 1 names operator 7, but there are only 3");
  std::vector<Operator> twins(3);
  twins[0].name = twins[2].name = "same";
  expect_message(message_of([&] { Graph("g", twins, {}); }), "two operators are named 'same'");
}

TEST(Graph, NamesACycleInOrder) {
  // a is before the cycle and f after it: neither is on it.
  const std::string text = message_of([] {
    graph_of(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 2}, {4, 5}});
  });
  const bool in_order = text.find("a cycle: c -> d -> e -> c;") != std::string::npos ||
                        text.find("a cycle: d -> e -> c -> d;") != std::string::npos ||
                        text.find("a cycle: e -> c -> d -> e;") != std::string::npos;
  EXPECT_TRUE(in_order) << text;
  expect_message(message_of([] { graph_of(2, {{0, 1}, {1, 0}}); }), "a cycle: ");
  // The first operator that cannot be ordered is not on the cycle but after it.
  const std::string after = message_of([] { graph_of(3, {{1, 2}, {2, 1}, {2, 0}}); });
  EXPECT_EQ(after.find("a cycle: a"), std::string::npos) << after;
  EXPECT_EQ(after.find("-> a"), std::string::npos) << after;
}

TEST(Graph, ShortensALongCycle) {
  std::vector<Operator> ops(100);
  std::vector<Edge> edges;
  for (std::size_t v = 0; v < ops.size(); ++v) {
    ops[v].name = "op" + std::to_string(v);
    edges.push_back({OpId(v), OpId((v + 1) % ops.size()), 0, {}});
  }
  const std::string text = message_of([&] { Graph("g", ops, edges); });
  expect_message(text, "(68 more) -> ");
  EXPECT_LT(text.size(), 500u);
}

TEST(Graph, FindsACycleInRandomGraphs) {
  // A random DAG with one edge turned round, where that closes a cycle: what is named must be one.
  int cycles = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed, "graph_test cycles");
    Pairs pairs;
    for (int i = 0; i < 14; ++i) {
      const std::size_t to = 1 + random.below(9);
      pairs.emplace_back(random.below(to), to);
    }
    auto& turned = pairs[random.below(pairs.size())];
    std::swap(turned.first, turned.second);
    std::string text;
    try {
      graph_of(10, pairs);
    } catch (const InputError& error) {
      text = error.what();
    }
    if (text.empty()) continue;
    ++cycles;
    const std::string marker = "a cycle: ";
    std::string names;
    for (const char c : text.substr(text.find(marker) + marker.size())) {
      if (c == ';') break;
      if (c >= 'a' && c <= 'j') names += c;
    }
    ASSERT_GE(names.size(), 3u) << text;
    EXPECT_EQ(names.front(), names.back()) << text;
    EXPECT_EQ(std::set<char>(names.begin(), names.end()).size() + 1, names.size()) << text;
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {
      const std::pair edge(static_cast<std::size_t>(names[i] - 'a'),
                           static_cast<std::size_t>(names[i + 1] - 'a'));
      EXPECT_NE(std::find(pairs.begin(), pairs.end(), edge), pairs.end()) << text;
    }
  }
  EXPECT_GT(cycles, 50);
}

TEST(Graph, DigestCoversStructureNotCosts) {
  const auto digest = [](auto change) {
    std::vector<Operator> ops(3);
    ops[0].name = "a";
    ops[1].name = "b";
    ops[2].name = "c";
    std::vector<Edge> edges{{OpId(0), OpId(1), 8, {}}, {OpId(0), OpId(2), 8, {}}};
    change(ops, edges);
    return Graph("g", ops, edges).digest();
  };
  const std::string plain = digest([](auto&, auto&) {});
  EXPECT_EQ(plain.size(), 32u);
  EXPECT_EQ(plain, digest([](auto& ops, auto& edges) {
              ops[1].time_ms = 3;
              ops[1].has_time = true;
              ops[1].utilization = 0.5;
              ops[1].memory_bytes = 7;
              edges[0].transfer_ms = 1.5;
            }));
  const std::set<std::string> others{
      plain,
      digest([](auto& ops, auto&) { ops[1].name = "B"; }),
      digest([](auto& ops, auto&) { ops[1].signature = "Relu"; }),
      digest([](auto&, auto& edges) { edges[0].size_bytes = 9; }),
      digest([](auto&, auto& edges) { edges[1].from = OpId(1); }),
      digest([](auto&, auto& edges) { edges.pop_back(); }),
      digest([](auto&, auto& edges) { edges.push_back(edges[0]); }),
  };
  EXPECT_EQ(others.size(), 7u);
}

TEST(Graph, ServesFiftyThousandOperators) {
  constexpr std::size_t kOperators = 50'000;
  std::vector<Operator> ops(kOperators);
  std::vector<Edge> edges;
  Random random(5, "graph_test large");
  for (std::size_t v = 0; v < kOperators; ++v) {
    ops[v].name = "op" + std::to_string(v);
    for (int i = 0; i < 3 && v > 0; ++i) edges.push_back({OpId(random.below(v)), OpId(v), 4, {}});
  }
  const Graph graph("large", std::move(ops), std::move(edges));
  EXPECT_TRUE(std::is_sorted(graph.topological().begin(), graph.topological().end()));
  EXPECT_EQ(graph.find("op49999"), OpId(49'999));
}

TEST(Reachability, AgreesWithWalkingTheEdges) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed, "graph_test reachability");
    // 70 operators, so that rows are longer than a word; numbered against the edges.
    constexpr std::size_t kOperators = 70;
    std::vector<Operator> ops(kOperators);
    for (std::size_t v = 0; v < kOperators; ++v) ops[v].name = std::to_string(v);
    std::vector<Edge> edges;
    for (int i = 0; i < 90; ++i) {
      const std::size_t from = 1 + random.below(kOperators - 1);
      edges.push_back({OpId(from), OpId(random.below(from)), 0, {}});
    }
    const Graph graph("g", ops, edges);

    std::vector<std::vector<bool>> walk(kOperators, std::vector<bool>(kOperators, false));
    for (const Edge& edge : edges) walk[edge.from.index()][edge.to.index()] = true;
    for (std::size_t k = 0; k < kOperators; ++k) {
      for (std::size_t i = 0; i < kOperators; ++i) {
        for (std::size_t j = 0; j < kOperators; ++j) {
          if (walk[i][k] && walk[k][j]) walk[i][j] = true;
        }
      }
    }
    const Reachability reachable(graph);
    for (std::size_t i = 0; i < kOperators; ++i) {
      for (std::size_t j = 0; j < kOperators; ++j) {
        ASSERT_EQ(reachable.reaches(OpId(i), OpId(j)), walk[i][j]) << i << " to " << j;
        ASSERT_EQ(reachable.independent(OpId(i), OpId(j)), i != j && !walk[i][j] && !walk[j][i]);
      }
    }
  }
}

}  // namespace
}  // namespace hios
