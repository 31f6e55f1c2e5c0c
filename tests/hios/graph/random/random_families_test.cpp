#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "hios/base/digest.h"
#include "hios/base/json/json_text.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "support/message.h"

// Networks of the other families; random_dag_test.cpp has those of the paper.

namespace hios {
namespace {

using test::expect_message;
using test::message_of;
using Family = RandomDag::Family;

const std::map<std::string, Family> kFamilies = {
    {"layered", Family::kLayered},   {"forkjoin", Family::kForkJoin},
    {"tree", Family::kTree},         {"chain", Family::kChain},
    {"cholesky", Family::kCholesky}, {"independent", Family::kIndependent},
    {"dense", Family::kDense},       {"two-terminal", Family::kTwoTerminal},
    {"stencil", Family::kStencil}};

std::vector<std::size_t> in_degrees(const Graph& graph) {
  std::vector<std::size_t> degrees;
  for (std::size_t v = 0; v < graph.size(); ++v) degrees.push_back(graph.in_edges(OpId(v)).size());
  return degrees;
}

std::vector<std::size_t> out_degrees(const Graph& graph) {
  std::vector<std::size_t> degrees;
  for (std::size_t v = 0; v < graph.size(); ++v) degrees.push_back(graph.out_edges(OpId(v)).size());
  return degrees;
}

/// Operators by how many edges lead into them, or out of them.
std::map<std::size_t, std::size_t> counted(const std::vector<std::size_t>& degrees) {
  std::map<std::size_t, std::size_t> count;
  for (const std::size_t degree : degrees) ++count[degree];
  return count;
}

/// Properties of every family: the number of operators, edges to greater numbers, none twice,
/// sorted, and the costs of all random networks.
void expect_the_rules_of_all(const Graph& graph, const RandomDag& parameters) {
  if (parameters.family == Family::kCholesky) {
    EXPECT_LE(graph.size(), parameters.operators);
  } else {
    EXPECT_EQ(graph.size(), parameters.operators);
  }
  EXPECT_LE(graph.edge_count(), parameters.edges_at_most());
  std::set<std::pair<std::size_t, std::size_t>> distinct;
  for (const Edge& edge : graph.edges()) {
    EXPECT_LT(edge.from, edge.to);
    EXPECT_TRUE(distinct.empty() ||
                *distinct.rbegin() < std::pair(edge.to.index(), edge.from.index()));
    distinct.emplace(edge.to.index(), edge.from.index());
    const bool by_producer = parameters.transfer == RandomDag::Transfer::kProducer;
    const double time_ms = graph.op(by_producer ? edge.from : edge.to).time_ms;
    EXPECT_EQ(edge.transfer_ms, std::max(0.1, parameters.p * time_ms));
    EXPECT_EQ(edge.size_bytes, 0u);
  }
  EXPECT_EQ(distinct.size(), graph.edge_count());
  for (const Operator& op : graph.operators()) {
    EXPECT_TRUE(op.has_time && op.time_ms >= 0.1 && op.time_ms <= 4) << op.time_ms;
    EXPECT_TRUE(op.utilization >= 0.6 && op.utilization <= 1) << op.utilization;
    EXPECT_TRUE(op.allowed.empty() && op.colocate.empty() && op.time_by_device.empty());
    EXPECT_EQ(op.memory_bytes + op.parameter_bytes, 0u);
  }
  EXPECT_EQ(graph.stage_cost().kind, StageCostRule::Kind::kOverlap);
  EXPECT_EQ(graph.stage_cost().weight, 0.5);
}

TEST(RandomFamilies, KeepTheRulesOfAll) {
  for (const auto& [name, family] : kFamilies) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(testing::Message() << name << ", seed " << seed);
      Random random(seed, "rules");
      RandomDag parameters{.operators = 1 + random.below(60), .seed = seed, .family = family};
      parameters.layers = std::min<std::size_t>(parameters.operators, 3 + random.below(9));
      parameters.width = 1 + random.below(parameters.operators);
      parameters.density = random.uniform();
      parameters.p = random.uniform(0, 2);
      if (random.below(2) == 0) parameters.direction = RandomDag::Direction::kIn;
      if (random.below(2) == 0) parameters.transfer = RandomDag::Transfer::kConsumer;
      expect_the_rules_of_all(random_dag(parameters), parameters);
    }
  }
}

/// Pinned, so that a problem named in a report is the same a year from now, on any machine.
TEST(RandomFamilies, AreTheSameOnEveryMachine) {
  const std::map<std::string, std::string> pinned = {
      {"family=layered,n=60,seed=3", "f65bc4340a552953f070b6c385908c1b"},
      {"family=two-terminal,n=60,seed=3", "33c292afd52f999b078c980233773220"},
      {"family=forkjoin,n=60,seed=3", "ca1027be07b8a13b2e3f8d2a8e9d1406"},
      {"family=tree,n=60,seed=3", "895f09cb3cde479083f6135211f5fc1b"},
      {"family=tree,direction=in,n=60,seed=3", "cb413a48fd836c2fcf23d9d192f4457d"},
      {"family=chain,n=60,seed=3", "4d070229ac7a33816ffa9fcf4490908e"},
      {"family=cholesky,n=60,seed=3", "cf443b2f37c8cfbc24451a3f2a8b1d25"},
      {"family=independent,n=60,seed=3", "afdc9b9d22b0368e389a5d177a708c6d"},
      {"family=dense,n=60,seed=3,density=0.1", "daab34837c92b19d122244b25c3dc8e6"},
  };
  for (const auto& [words, digest] : pinned) {
    const Graph graph = random_dag(parse_random_dag(words));
    EXPECT_EQ(Digest().add(to_text(to_json(graph))).hex(), digest) << words;
  }
}

TEST(RandomFamilies, AreCalledAsTheyAre) {
  for (const auto& [name, family] : kFamilies) {
    EXPECT_EQ(parse_random_dag("family=" + name).family, family);
    const Graph graph = random_dag({.operators = 20, .seed = 7, .family = family});
    const std::string called = family == Family::kLayered ? "dag" : name;
    EXPECT_EQ(graph.name(), called + "-20-7");
  }
}

/// From fork to join: branches of one to three operators, and no more of them than `width`.
TEST(RandomFamilies, ForkJoinIsBlocksInARow) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed, "forkjoin");
    RandomDag parameters{
        .operators = 2 + random.below(100), .seed = seed, .family = Family::kForkJoin};
    parameters.width = 1 + random.below(std::min<std::size_t>(6, parameters.operators));
    const Graph graph = random_dag(parameters);
    const auto in = in_degrees(graph), out = out_degrees(graph);
    std::size_t open = 0;  // branches between fork and join
    std::size_t longest = 0;
    std::vector<std::size_t> length(graph.size(), 0);
    for (std::size_t v = 0; v < graph.size(); ++v) {
      EXPECT_EQ(in[v] == 0, v == 0);
      EXPECT_EQ(out[v] == 0, v + 1 == graph.size());
      EXPECT_LE(in[v], parameters.width);
      EXPECT_LE(out[v], parameters.width);
      if (in[v] > 1) {
        EXPECT_EQ(in[v], open) << "a join has all branches of its fork";
        open = 0;
      }
      if (out[v] > 1) {
        EXPECT_EQ(open, 0u) << "a block begins where the one before has ended";
        open = out[v];
      }
      if (in[v] == 1) {
        const std::size_t before = graph.edge(graph.in_edges(OpId(v))[0]).from.index();
        const bool forks = out[before] > 1 || in[before] != 1;
        length[v] = forks ? 1 : length[before] + 1;
        longest = std::max(longest, parameters.width > 1 && open > 0 ? length[v] : 0);
      }
    }
    EXPECT_EQ(open, 0u);
    EXPECT_LE(longest, 3u);
  }
  const Graph wide = random_dag({.operators = 10, .family = Family::kForkJoin, .width = 8});
  EXPECT_EQ(wide.out_edges(OpId(0)).size(), 8u);
  EXPECT_EQ(wide.in_edges(OpId(9)).size(), 8u);
}

TEST(RandomFamilies, ATreeHasOneRoot) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomDag parameters{.operators = 80, .seed = seed, .family = Family::kTree};
    const Graph out_tree = random_dag(parameters);
    parameters.direction = RandomDag::Direction::kIn;
    const Graph in_tree = random_dag(parameters);
    EXPECT_EQ(counted(in_degrees(out_tree)), (std::map<std::size_t, std::size_t>{{0, 1}, {1, 79}}));
    EXPECT_EQ(counted(out_degrees(in_tree)), (std::map<std::size_t, std::size_t>{{0, 1}, {1, 79}}));
    std::vector<std::size_t> mirrored = out_degrees(out_tree);
    std::reverse(mirrored.begin(), mirrored.end());
    EXPECT_EQ(in_degrees(in_tree), mirrored);
  }
}

TEST(RandomFamilies, ChainsAreParallel) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const std::size_t width : {1, 2, 7, 80}) {
      const RandomDag parameters{
          .operators = 80, .seed = seed, .family = Family::kChain, .width = width};
      const Graph graph = random_dag(parameters);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", width " << width);
      const auto in = counted(in_degrees(graph)), out = counted(out_degrees(graph));
      EXPECT_EQ(in.at(0), width);
      EXPECT_EQ(out.at(0), width);
      EXPECT_EQ(graph.edge_count(), 80 - width);
      EXPECT_LE(in.rbegin()->first, 1u);
      EXPECT_LE(out.rbegin()->first, 1u);
    }
  }
}

/// The edges, derived again from the tile that each task writes.
TEST(RandomFamilies, CholeskyHasTheTasksOfTheFactorization) {
  for (std::size_t tiles = 1; tiles <= 12; ++tiles) {
    const std::size_t tasks = tiles * (tiles + 1) * (tiles + 2) / 6;
    const Graph graph = random_dag({.operators = tasks, .family = Family::kCholesky});
    ASSERT_EQ(graph.size(), tasks) << tiles << " tiles";
    const Graph more = random_dag({.operators = tasks + tiles, .family = Family::kCholesky});
    EXPECT_EQ(more.size(), tasks) << "the largest that fits";
    std::set<std::pair<std::string, std::string>> expected, edges;
    const auto task = [](const char* kind, std::vector<std::size_t> indices) {
      std::string name = kind;
      for (const std::size_t index : indices) name += "_" + std::to_string(index);
      return name;
    };
    const auto update = [&](std::size_t i, std::size_t j, std::size_t k) {
      return i == j ? task("SYRK", {i, k}) : task("GEMM", {i, j, k});
    };
    for (std::size_t k = 0; k < tiles; ++k) {
      if (k > 0) expected.emplace(update(k, k, k - 1), task("POTRF", {k}));
      for (std::size_t i = k + 1; i < tiles; ++i) {
        expected.emplace(task("POTRF", {k}), task("TRSM", {i, k}));
        if (k > 0) expected.emplace(update(i, k, k - 1), task("TRSM", {i, k}));
        for (std::size_t j = k + 1; j <= i; ++j) {
          expected.emplace(task("TRSM", {i, k}), update(i, j, k));
          expected.emplace(task("TRSM", {j, k}), update(i, j, k));
          if (k > 0) expected.emplace(update(i, j, k - 1), update(i, j, k));
        }
      }
    }
    for (const Edge& edge : graph.edges()) {
      edges.emplace(graph.op(edge.from).name, graph.op(edge.to).name);
    }
    EXPECT_EQ(edges, expected) << tiles << " tiles";
  }
}

/// Cell i of row t reads cells i - 1, i and i + 1 of row t - 1, where there are such.
TEST(RandomFamilies, AStencilReadsNeighbours) {
  for (const std::size_t width : {1u, 2u, 3u, 7u, 40u}) {
    const Graph graph =
        random_dag({.operators = 100, .seed = 1, .family = Family::kStencil, .width = width});
    std::set<std::pair<std::size_t, std::size_t>> expected, edges;
    for (std::size_t v = 0; v < 100; ++v) {
      for (std::size_t u = 0; u < v; ++u) {
        const std::size_t apart = std::max(u % width, v % width) - std::min(u % width, v % width);
        if (u / width + 1 == v / width && apart <= 1) expected.emplace(u, v);
      }
    }
    for (const Edge& edge : graph.edges()) edges.emplace(edge.from.index(), edge.to.index());
    EXPECT_EQ(edges, expected) << "width " << width;
  }
}

/// Within five standard deviations of the mean, and all or none at the ends.
TEST(RandomFamilies, ADenseNetworkHasItsDensity) {
  RandomDag parameters{.operators = 300, .family = Family::kDense};
  const double pairs = 300 * 299 / 2.0;
  for (const double density : {0.0, 0.01, 0.1, 0.5, 0.9, 1.0}) {
    parameters.density = density;
    const auto edges = static_cast<double>(random_dag(parameters).edge_count());
    EXPECT_NEAR(edges, density * pairs, 5 * std::sqrt(density * (1 - density) * pairs));
  }
}

TEST(RandomFamilies, ServeTheEndsOfTheirRanges) {
  for (const auto& [name, family] : kFamilies) {
    RandomDag parameters{.operators = 1, .layers = 1, .family = family, .width = 1};
    EXPECT_EQ(random_dag(parameters).size(), 1u) << name;
    EXPECT_EQ(random_dag(parameters).edge_count(), 0u) << name;
    if (family == Family::kDense) continue;
    parameters = {.operators = 20'000, .layers = 100, .family = family};
    EXPECT_GE(random_dag(parameters).size(), 19'000u) << name;
  }
  EXPECT_EQ(parse_random_dag("family=chain,n=3").width, 3u) << "no more than operators";
  EXPECT_EQ(parse_random_dag("family=chain,n=30").width, 4u);
  EXPECT_EQ(parse_random_dag("family=dense,n=20000,density=0.04").operators, 20'000u);
}

TEST(RandomFamilies, RefuseKeysOfOthers) {
  const std::map<std::string, std::set<std::string>> own = {
      {"edges=30", {"layered", "two-terminal"}},
      {"layers=3", {"layered", "two-terminal"}},
      {"base=ba", {}},
      {"hidden=64", {}},
      {"width=2", {"forkjoin", "chain", "stencil"}},
      {"direction=in", {"tree"}},
      {"density=0.2", {"dense"}},
      {"p=1",
       {"layered", "forkjoin", "tree", "chain", "cholesky", "dense", "two-terminal", "stencil"}},
      {"transfer=consumer",
       {"layered", "forkjoin", "tree", "chain", "cholesky", "dense", "two-terminal", "stencil"}},
      {"seed=4",
       {"layered", "forkjoin", "tree", "chain", "cholesky", "dense", "independent", "two-terminal",
        "stencil"}},
      {"memory=2",
       {"layered", "forkjoin", "tree", "chain", "cholesky", "dense", "independent", "two-terminal",
        "stencil"}},
  };
  for (const auto& [word, families] : own) {
    const std::string key = word.substr(0, word.find('='));
    for (const auto& [name, family] : kFamilies) {
      for (const std::string& words :
           {"n=20,family=" + name + "," + word, "n=20," + word + ",family=" + name}) {
        SCOPED_TRACE(words);
        if (families.contains(name)) {
          EXPECT_EQ(parse_random_dag(words).family, family);
          continue;
        }
        expect_message(message_of([&] { parse_random_dag(words); }),
                       "random network, " + key + ": family " + name + " has none; leave it out");
      }
    }
  }
}

TEST(RandomFamilies, RefuseBadParameters) {
  const std::map<std::string, std::string> cases = {
      {"family=",
       "family: \"\" is unknown; known are layered, two-terminal, forkjoin, tree, chain, "
       "stencil, cholesky, independent, dense, modules, regal, bert and lstm"},
      {"family=Chain", "family: \"Chain\" is unknown"},
      {"family=chain,family=tree", "family: given twice"},
      {"family=chain,width=0", "width: '0' is no number from 1 to 1000000"},
      {"family=chain,n=5,width=6", "width: 6 cannot be; there are only 5 operators"},
      {"family=forkjoin,n=5,width=6", "width: 6 cannot be; there are only 5 operators"},
      {"family=tree,direction=up", "direction: \"up\" is neither out nor in"},
      {"family=dense,density=1.5", "density: '1.5' is no number from 0 to 1"},
      {"family=dense,density=nan", "density: 'nan' is no number from 0 to 1"},
      {"family=dense,n=44722,density=0", "n: 44722 is too much for family dense"},
      {"family=dense,n=20000", "density: leads to more than 10000000 edges"},
  };
  for (const auto& [words, part] : cases) {
    expect_message(message_of([&, text = words] { parse_random_dag(text); }),
                   "random network, " + part);
  }
  const RandomDag chain{.operators = 5, .family = Family::kChain, .width = 6};
  expect_message(message_of([&] { random_dag(chain); }), "random network, width: 6");
  const RandomDag dense{.family = Family::kDense, .density = std::nan("")};
  expect_message(message_of([&] { random_dag(dense); }), "random network, density: ");
}

}  // namespace
}  // namespace hios
