// Plans of networks whose operators are cut, followed step by step: rows of a tensor lie together
// whoever computes them, and none is read before it is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/run/plan/plan.h"
#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/evaluate/simulate.h"
#include "hios/graph/network.h"
#include "hios/model/networks/networks.h"
#include "support/networks/random_cuts.h"
#include "support/networks/random_network.h"
#include "support/oracles/plan_checker.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

/// Returns the network with some of its operators cut once or twice, at random rows.
Network randomly_cut(const Model& model, Random& random) {
  const Network whole(model);
  FusionRules rules;
  for (std::size_t i = 0; i < whole.coarse.graph.size(); ++i) {
    const std::int64_t height = whole.model.tensor(whole.coarse.operators[i].output).shape.h;
    if (height < 4 || random.below(3) == 0) continue;
    const auto at =
        1 + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(height) - 2));
    Cut cut{.op = whole.coarse.graph.op(OpId(i)).name, .at = {at}};
    if (random.below(3) == 0) cut.at.push_back(height - 1);
    rules.cuts.push_back(std::move(cut));
  }
  return Network(model, 4, rules);
}

/// Returns the messages of all ranks: producer, receiving rank and bytes.
std::set<std::tuple<OpId, std::size_t, Bytes>> planned_messages(const Network& network,
                                                                const Schedule& schedule) {
  std::set<std::tuple<OpId, std::size_t, Bytes>> messages;
  for (std::size_t rank = 0; rank < schedule.devices.size(); ++rank) {
    for (const PlannedMessage& receive : plan_rank(network.coarse, schedule, Rank(rank)).receives) {
      messages.emplace(receive.op, rank, receive.size_bytes());
    }
  }
  return messages;
}

/// Returns the graph with a time for each operator.
Graph with_times(const Graph& graph) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) op.has_time = true;
  return Graph(graph.name(), std::move(operators), {graph.edges().begin(), graph.edges().end()});
}

/// Returns devices on links with or without contention, or (3) on routes.
Platform connected(std::size_t count, std::uint64_t how) {
  const Platform alike = Platform::homogeneous(count, "cpu", 1, 2);
  const std::vector<Device> devices(alike.devices().begin(), alike.devices().end());
  if (how < 3) {
    return Platform(devices, {}, Link{0.01, 1}, {static_cast<Contention>(how)});
  }
  std::vector<Route> routes;
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      if (from != to) routes.push_back({DeviceId(from), DeviceId(to), {}, 0.01, 1});
    }
  }
  return Platform(devices, {}, {}, std::move(routes));
}

// Costs are those of what the plan sends: one message for each tensor and rank that reads some of
// it, with all bytes from the first to the last that are read there.
TEST(CutPlans, SendWhatSimulationsCount) {
  const Model model = models::find("squeezenet")->build(1, 95, 95);
  std::size_t joined = 0;  // messages that are larger than every edge that they serve
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(tries(40)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "messages");
    const Network network = randomly_cut(model, random);
    const Graph graph = with_times(network.coarse.graph);
    const std::size_t ranks = 2 + seed % 3;
    const Schedule schedule = random_schedule(graph, ranks, 2, seed);
    const Platform platform = connected(ranks, seed % 4);
    const CostModel costs = CostModel::from_graph(graph, platform);
    std::set<std::tuple<OpId, std::size_t, Bytes>> simulated;
    for (const TransferTimes& sent : simulate(graph, schedule, costs).transfers) {
      simulated.emplace(sent.producer, sent.to.index(), sent.size_bytes);
      EXPECT_NEAR(sent.end_ms - sent.start_ms, 0.01 + static_cast<double>(sent.size_bytes) / 1e6,
                  1e-9);
      const auto edges = graph.out_edges(sent.producer);
      joined += std::ranges::all_of(
          edges, [&](EdgeId e) { return graph.edge(e).size_bytes < sent.size_bytes; });
    }
    EXPECT_EQ(simulated, planned_messages(network, schedule));
  }
  EXPECT_GT(joined, 0u);
}

TEST(CutPlans, ReadRowsThatAreThere) {
  const Model model = models::find("squeezenet")->build(1, 95, 95);
  std::size_t partial = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(tries(60)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "cuts");
    const Network network = randomly_cut(model, random);
    const std::size_t ranks = 1 + seed % 4;
    const Schedule schedule = random_schedule(network.coarse.graph, ranks, 2, seed);
    PlanOptions options;
    options.any_order = seed % 3 == 0;
    options.keep_all = seed % 5 == 0;
    std::vector<RankPlan> plans;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      plans.push_back(plan_rank(network.coarse, schedule, Rank(rank), options));
      const RankPlan& plan = plans.back();
      if (!options.any_order) {
        EXPECT_EQ(findings_in(network.coarse, plan, options.keep_all), std::vector<std::string>{});
      }
      for (const PlannedMessage& message : plan.receives) {
        const Bytes all = network.coarse.graph.op(message.op).memory_bytes;
        partial += message.size_bytes() < all ? 1 : 0;
        EXPECT_GT(message.size_bytes(), 0u);
        EXPECT_LE(message.bytes.end, all);
      }
    }
    if (!options.any_order) {
      EXPECT_EQ(findings_in(network.coarse, plans), std::vector<std::string>{});
    }
  }
  EXPECT_GT(partial, 0u);
}

TEST(CutPlans, ReadNoElementBeforeItIsThere) {
  std::size_t cut = 0, found = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(tries(100)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "contents");
    const Model model = random_layers(12, random);
    const Cuts cuts = random_cuts(model, random);
    const Network network = cut_network(model, cuts);
    cut += cuts.size();
    const std::size_t ranks = 1 + seed % 4;
    const Schedule schedule = random_schedule(network.coarse.graph, ranks, 2, seed);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      RankPlan plan = plan_rank(network.coarse, schedule, Rank(rank), {.any_order = seed % 3 == 0});
      EXPECT_EQ(misreads_in(network.coarse, plan), std::vector<std::string>{});
      if (plan.slots.size() < 2) continue;
      plan.slots[random.below(plan.slots.size())].offset += 4;  // and now it must find that
      found += misreads_in(network.coarse, plan).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(cut, static_cast<std::size_t>(tries(400)));
  EXPECT_GT(found, static_cast<std::size_t>(tries(20)));
}

}  // namespace
}  // namespace hios::test
