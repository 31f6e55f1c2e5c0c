#include "hios/graph/random/random_dag.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/random/random_dag_text.h"
#include "support/message.h"
#include "support/networks/depths.h"

namespace hios {
namespace {

using test::depths;
using test::expect_message;
using test::message_of;

TEST(RandomDag, KeepsTheRulesOfThePaper) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const RandomDag parameters{
        .operators = 200, .edges = 400, .layers = 14, .p = 0.8, .seed = seed};
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Graph graph = random_dag(parameters);
    EXPECT_EQ(graph.name(), "dag-200-" + std::to_string(seed));
    EXPECT_EQ(graph.size(), 200u);
    EXPECT_EQ(graph.edge_count(), 400u);

    const std::vector<std::size_t> depth = depths(graph);
    EXPECT_TRUE(std::is_sorted(depth.begin(), depth.end())) << "numbered layer by layer";
    EXPECT_EQ(depth.back() + 1, 14u);
    std::set<std::pair<OpId, OpId>> distinct;
    for (const Edge& edge : graph.edges()) {
      distinct.emplace(edge.from, edge.to);
      EXPECT_LT(depth[edge.from.index()], depth[edge.to.index()]);
      const double time = graph.op(edge.from).time_ms;
      EXPECT_EQ(edge.transfer_ms, std::max(0.1, 0.8 * time));
    }
    EXPECT_EQ(distinct.size(), 400u);
    for (std::size_t v = 0; v < graph.size(); ++v) {
      const Operator& op = graph.op(OpId(v));
      EXPECT_FALSE(graph.in_edges(OpId(v)).empty() && graph.out_edges(OpId(v)).empty()) << v;
      EXPECT_TRUE(op.has_time);
      EXPECT_GE(op.time_ms, 0.1);
      EXPECT_LE(op.time_ms, 4);
      EXPECT_GE(op.utilization, 0.6);
      EXPECT_LE(op.utilization, 1);
    }
    EXPECT_EQ(graph.stage_cost().kind, StageCostRule::Kind::kOverlap);
    EXPECT_EQ(graph.stage_cost().weight, 0.5);
  }
}

TEST(RandomDag, IsTheSameOnEveryMachine) {
  const Graph graph = random_dag({.seed = 3});
  EXPECT_EQ(graph.digest(), "9dc5af3ef8ef91e6478cd5fe7beeb1e5");
  EXPECT_EQ(graph.op(OpId(0)).time_ms, 0x1.e0d7879a84d68p+1);
  EXPECT_EQ(graph.op(OpId(199)).utilization, 0x1.f31fa495568bap-1);
}

TEST(RandomDag, DependsOnEveryParameter) {
  const RandomDag plain;
  const auto digest = [](RandomDag parameters) { return random_dag(parameters).digest(); };
  const std::set<std::string> digests{digest(plain), digest({.operators = 201}),
                                      digest({.edges = 401}), digest({.layers = 13}),
                                      digest({.seed = 1})};
  EXPECT_EQ(digests.size(), 5u);
  const RandomDag slower{.p = 1.2};
  EXPECT_EQ(digest(plain), digest(slower)) << "transfers are costs, not structure";
  EXPECT_NE(random_dag(plain).edge(EdgeId(0)).transfer_ms,
            random_dag(slower).edge(EdgeId(0)).transfer_ms);
}

TEST(RandomDag, TakesTheFewestAndTheMostEdges) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    // The refusal says what would be possible; both ends of that range must be.
    RandomDag parameters{.operators = 9, .edges = 1000, .layers = 3, .seed = seed};
    const std::string text = message_of([&] { random_dag(parameters); });
    const std::size_t take = text.rfind(" take ");
    ASSERT_NE(take, std::string::npos) << text;
    std::size_t fewest = 0, most = 0;
    ASSERT_EQ(std::sscanf(text.c_str() + take, " take %zu to %zu", &fewest, &most), 2) << text;
    for (const std::size_t edges : {fewest, most}) {
      parameters.edges = edges;
      EXPECT_EQ(random_dag(parameters).edge_count(), edges);
    }
    parameters.edges = fewest - 1;
    expect_message(message_of([&] { random_dag(parameters); }), "cannot be");
    parameters.edges = most + 1;
    expect_message(message_of([&] { random_dag(parameters); }), "cannot be");
  }
}

TEST(RandomDag, ServesTheEndsOfItsRanges) {
  EXPECT_EQ(random_dag({.operators = 1, .edges = 0, .layers = 1}).size(), 1u);
  const Graph chain = random_dag({.operators = 50, .edges = 49, .layers = 50});
  EXPECT_EQ(depths(chain).back(), 49u);
  EXPECT_EQ(random_dag({.operators = 50, .edges = 1225, .layers = 50}).edge_count(), 1225u);
  EXPECT_EQ(random_dag({.operators = 20'000, .edges = 60'000, .layers = 100}).edge_count(),
            60'000u);
}

TEST(RandomDag, ReadsItsParameters) {
  const RandomDag all = parse_random_dag("n=20,edges=40,layers=5,p=0.25,seed=18446744073709551615");
  EXPECT_EQ(all.operators, 20u);
  EXPECT_EQ(all.edges, 40u);
  EXPECT_EQ(all.layers, 5u);
  EXPECT_EQ(all.p, 0.25);
  EXPECT_EQ(all.seed, ~std::uint64_t{0});
  const RandomDag some = parse_random_dag("seed=3");
  EXPECT_EQ(some.operators, 200u);
  EXPECT_EQ(some.edges, std::nullopt);
  EXPECT_EQ(some.layers, 14u);
  EXPECT_EQ(some.p, 0.8);
  EXPECT_EQ(parse_random_dag("").operators, 200u);
  EXPECT_EQ(some.transfer, RandomDag::Transfer::kProducer);
  EXPECT_EQ(parse_random_dag("transfer=producer").transfer, RandomDag::Transfer::kProducer);
  EXPECT_EQ(parse_random_dag("transfer=consumer").transfer, RandomDag::Transfer::kConsumer);
}

TEST(RandomDag, AbsentKeysFollowTheNumberOfOperators) {
  EXPECT_EQ(random_dag(parse_random_dag("n=350")).edge_count(), 700u) << "twice as many";
  EXPECT_EQ(parse_random_dag("n=350").layers, 14u);
  EXPECT_EQ(parse_random_dag("n=10").layers, 10u);
  EXPECT_EQ(parse_random_dag("layers=5,n=10").layers, 5u);
  EXPECT_EQ(random_dag(parse_random_dag("n=10")).size(), 10u);
}

TEST(RandomDag, DefaultEdgesAreNoMoreThanThereCanBe) {
  const auto edges = [](const char* text) {
    return random_dag(parse_random_dag(text)).edge_count();
  };
  EXPECT_EQ(edges("n=1"), 0u);
  EXPECT_EQ(edges("n=2"), 1u);
  EXPECT_EQ(edges("n=3"), 3u);
  EXPECT_EQ(edges("n=4"), 6u);
  EXPECT_EQ(edges("n=5"), 10u) << "twice as many again";
  // How many two layers take depends on how the seed spreads operators over them.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RandomDag two_layers{.operators = 6, .layers = 2, .seed = seed};
    std::size_t made = 0;
    EXPECT_NO_THROW(made = random_dag(two_layers).edge_count()) << seed;
    EXPECT_GE(made, 5u) << seed;
    EXPECT_LE(made, 9u) << seed;
  }
}

TEST(RandomDag, ATransferIsAShareOfTheProducersTimeOrOfTheConsumers) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomDag parameters{.p = 0.5, .seed = seed};
    const Graph by_producer = random_dag(parameters);
    parameters.transfer = RandomDag::Transfer::kConsumer;
    const Graph by_consumer = random_dag(parameters);
    ASSERT_EQ(by_producer.digest(), by_consumer.digest()) << "only the transfers differ";
    for (std::size_t e = 0; e < by_producer.edge_count(); ++e) {
      const Edge& edge = by_producer.edge(EdgeId(e));
      const double producer_ms = by_producer.op(edge.from).time_ms;
      const double consumer_ms = by_consumer.op(edge.to).time_ms;
      EXPECT_EQ(consumer_ms, by_producer.op(edge.to).time_ms);
      EXPECT_EQ(edge.transfer_ms, std::max(0.1, 0.5 * producer_ms));
      EXPECT_EQ(by_consumer.edge(EdgeId(e)).transfer_ms, std::max(0.1, 0.5 * consumer_ms));
    }
  }
}

/// Small and odd networks of every shape: whatever is not refused keeps the rules.
TEST(RandomDag, LeavesNoOperatorUnconnectedWhateverItsShape) {
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed, "shapes");
    RandomDag parameters{.operators = 2 + random.below(30), .seed = seed};
    parameters.layers = 2 + random.below(parameters.operators - 1);
    parameters.edges = parameters.operators + random.below(2 * parameters.operators);
    std::optional<Graph> graph;
    try {
      graph = random_dag(parameters);
    } catch (const InputError& error) {
      expect_message(error.what(), "random network, edges: ");
      continue;
    }
    ++made;
    EXPECT_EQ(graph->size(), parameters.operators);
    EXPECT_EQ(graph->edge_count(), parameters.edges);
    const std::vector<std::size_t> depth = depths(*graph);
    EXPECT_EQ(*std::max_element(depth.begin(), depth.end()) + 1, parameters.layers);
    for (std::size_t v = 0; v < graph->size(); ++v) {
      EXPECT_FALSE(graph->in_edges(OpId(v)).empty() && graph->out_edges(OpId(v)).empty()) << v;
    }
    for (const Edge& edge : graph->edges()) {
      EXPECT_LT(depth[edge.from.index()], depth[edge.to.index()]);
    }
  }
  EXPECT_GT(made, 1500u);
}

/// Means of many draws: the middle of the range, within five standard errors.
TEST(RandomDag, DrawsTimesAndUtilizationsUniformly) {
  double time_ms = 0, utilization = 0, shortest = 4, longest = 0;
  constexpr std::size_t kOperators = 200'000;
  const Graph graph = random_dag({.operators = kOperators, .edges = 2 * kOperators, .seed = 1});
  for (const Operator& op : graph.operators()) {
    time_ms += op.time_ms / kOperators;
    utilization += op.utilization / kOperators;
    shortest = std::min(shortest, op.time_ms);
    longest = std::max(longest, op.time_ms);
  }
  const double error = 5 / std::sqrt(12.0 * kOperators);
  EXPECT_NEAR(time_ms, 2.05, 3.9 * error);
  EXPECT_NEAR(utilization, 0.8, 0.4 * error);
  EXPECT_LT(shortest, 0.101);
  EXPECT_GT(longest, 3.999);
}

TEST(RandomDag, RefusesBadParameters) {
  const auto message = [](const char* text) { return message_of([&] { parse_random_dag(text); }); };
  expect_message(message("n=20,n=30"), "n: given twice");
  expect_message(message("operators=20"), "'operators' is unknown; known are n, edges");
  expect_message(message("n"), "'n' must be key=value");
  expect_message(message("n=20,"), "'' must be key=value");
  expect_message(message(",n=20"), "'' must be key=value");
  expect_message(message("n=5,layers=6"), "layers: 6 cannot be");
  expect_message(message("n=7,layers=1"), "layers: 1 leaves all 7 operators unconnected");
  expect_message(message("transfer=both"), "transfer: \"both\" is neither producer nor");
  for (const char* bad : {"n=", "n=0", "n=-1", "n=3.9", "n=1e3", "n= 3", "n=3x",
                          "n=99999999999999999999", "n=1000001"}) {
    SCOPED_TRACE(bad);
    expect_message(message(bad), "random network, n: ");
  }
  for (const char* bad : {"p=-1", "p=nan", "p=inf", "p=1e400", "p=x", "p="}) {
    SCOPED_TRACE(bad);
    expect_message(message(bad), "random network, p: ");
  }
  expect_message(message("edges=-1"), "is no number from 0 to 10000000");
}

TEST(RandomDag, NamesTheKeyThatMakesItImpossible) {
  const auto message = [](const char* text) {
    return message_of([&] { random_dag(parse_random_dag(text)); });
  };
  for (const char* bad : {"n=10,edges=10000", "edges=10000,n=10", "n=200,edges=3", "n=1,edges=1",
                          "n=20,layers=2,edges=400", "edges=1000000"}) {
    SCOPED_TRACE(bad);
    expect_message(message(bad), "random network, edges: ");
  }
  for (const char* bad : {"n=10,layers=14", "layers=201", "layers=0", "layers=1,edges=0"}) {
    SCOPED_TRACE(bad);
    expect_message(message(bad), "random network, layers: ");
  }
}

}  // namespace
}  // namespace hios
