// Operators in blocks of the network compared with the whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/host/clock.h"
#include "engine/measure/block_run.h"
#include "engine/measure/profiler.h"
#include "engine/measure/short_profiles.h"
#include "hios/evaluate/measured_devices.h"
#include "hios/profile/profile_gaps.h"
#include "hios/profile/profile_json.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"
#include "support/schema.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::FakeBackend;
using test::FakeSource;
using test::kShort;
using test::run_ranks;

Graph row(const std::vector<Bytes>& weights) {
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Operator op;
    op.name = "op" + std::to_string(i);
    op.parameter_bytes = weights[i];
    operators.push_back(op);
    if (i == 0) continue;
    edges.emplace_back().from = OpId(i - 1);
    edges.back().to = OpId(i);
  }
  return Graph("row", std::move(operators), std::move(edges));
}

std::vector<std::size_t> counts(const std::vector<NetworkBlock>& parts) {
  std::vector<std::size_t> list;
  std::size_t next = 0;
  for (const NetworkBlock& part : parts) {
    EXPECT_EQ(part.first, next);
    list.push_back(part.count);
    next += part.count;
  }
  return list;
}

using Counts = std::vector<std::size_t>;

TEST(PartsByWeights, TheHeaviestIsAsLightAsCanBe) {
  EXPECT_EQ(counts(blocks_by_weights(row({1, 1, 1, 1}), 2)), (Counts{2, 2}));
  EXPECT_EQ(counts(blocks_by_weights(row({5, 1, 1, 1}), 2)), (Counts{1, 3}));
  EXPECT_EQ(counts(blocks_by_weights(row({0, 0, 7, 0, 2, 6}), 2)), (Counts{4, 2}));
  EXPECT_EQ(counts(blocks_by_weights(row({3, 3, 3}), 5)), (Counts{1, 1, 1}));
  EXPECT_EQ(counts(blocks_by_weights(row({0, 0, 0}), 2)), (Counts{3})) << "nothing to spread";
}

/// A network whose operators all have weights, so that there are blocks.
test::RandomNetwork weighty_network() {
  test::RandomNetwork network = test::random_network(12, 5);
  const Graph& graph = network.coarse.graph;
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) op.parameter_bytes = 1 << 20;
  network.coarse.graph =
      Graph(graph.name(), std::move(operators), {graph.edges().begin(), graph.edges().end()});
  return network;
}

TEST(WarmOperators, AreMeasuredByHalvesAndAsAWhole) {
  const test::RandomNetwork network = weighty_network();
  const Graph& graph = network.coarse.graph;
  std::mutex mutex;
  std::set<std::string> texts;
  run_ranks(2, [&](mpi::Transport& transport) {
    FakeBackend backend;
    FakeSource source;
    std::vector<std::string> order;
    for (const OpId op : graph.topological()) order.push_back(graph.op(op).name);
    Profiler profiler({network.coarse, network.model, backend, transport, source}, kShort);
    Configuration configuration;
    const Measured measured = profiler.measure_warm(configuration);
    EXPECT_EQ(measured.done, measured.missing);
    EXPECT_GT(measured.done, 0u);

    // The whole, or a half, from its begin to its end, repeatedly.
    const std::size_t half = order.size() / 2;
    std::map<std::string, std::size_t> position;
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    std::set<std::pair<std::size_t, std::size_t>> jumps;
    for (std::size_t i = 0; i + 1 < backend.ran.size(); ++i) {
      const std::size_t from = position.at(backend.ran[i]), to = position.at(backend.ran[i + 1]);
      if (to != from + 1) jumps.emplace(from, to);
    }
    const std::size_t end_of_half = half - 1, end = order.size() - 1;
    EXPECT_EQ(jumps, (std::set<std::pair<std::size_t, std::size_t>>{
                         {end_of_half, 0}, {end, 0}, {end, half}}));

    EXPECT_TRUE(has_warm_times(graph, configuration));
    for (const auto& [signature, warm] : configuration.warm) {
      EXPECT_GT(warm.ms, 0);
      EXPECT_GT(warm.cold_ms, 0);
      EXPECT_GT(warm.held_bytes, Bytes{6} << 20);
      EXPECT_LT(warm.held_bytes, Bytes{12} << 20);
    }
    EXPECT_TRUE(configuration.protocol["settling"].contains("operators in blocks"));
    backend.ran.clear();
    EXPECT_EQ(profiler.measure_warm(configuration).missing, 0u);
    EXPECT_TRUE(backend.ran.empty()) << "nothing twice";
    const std::lock_guard lock(mutex);
    texts.insert(to_json(Profile{{configuration}}).dump());
  });
  EXPECT_EQ(texts.size(), 1u) << "ranks hold different times";
  const Json json = parse_json(*texts.begin(), "p.json");
  EXPECT_EQ(json["version"], 1);
  test::expect_meets_schema(json);
}

/// A cache that holds the operators that ran last, up to half of the network's operators. A warm
/// operator takes no time of its own, and several of the fastest sweeps decide, so that a busy
/// machine does not make half of a millisecond an operator out of nothing.
TEST(WarmOperators, WeightsThatStayInACacheShowAsFastMemory) {
  const Protocol kSeveralFastest{.warmup = 1, .iterations = 20};
  constexpr double kColdMs = 1;
  const test::RandomNetwork network = weighty_network();
  const Graph& graph = network.coarse.graph;
  run_ranks(2, [&](mpi::Transport& transport) {
    FakeBackend backend;
    FakeSource source;
    std::vector<std::string> recent;  // the latest last
    backend.on_run = [&](const std::string& name) {
      const auto known = std::find(recent.begin(), recent.end(), name);
      const bool warm = known != recent.end();
      if (warm) recent.erase(known);
      recent.push_back(name);
      if (recent.size() > graph.size() / 2) recent.erase(recent.begin());
      const Stopwatch stopwatch;
      while (!warm && stopwatch.ms() < kColdMs) {
      }
    };
    Profiler profiler({network.coarse, network.model, backend, transport, source}, kSeveralFastest);
    Configuration configuration;
    profiler.measure_warm(configuration);
    double warm_ms = 0, cold_ms = 0;
    for (const Operator& op : graph.operators()) {
      warm_ms += configuration.warm.at(op.signature).ms;
      cold_ms += configuration.warm.at(op.signature).cold_ms;
    }
    EXPECT_GE(cold_ms, kColdMs * static_cast<double>(graph.size()));
    EXPECT_LT(warm_ms, cold_ms / 2);
    EXPECT_TRUE(measured_fast_memory(graph, configuration));
  });
}

}  // namespace
}  // namespace hios
