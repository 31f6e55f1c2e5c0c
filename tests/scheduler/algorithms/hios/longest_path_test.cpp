#include "scheduler/algorithms/hios/longest_path.h"

#include <algorithm>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/list/priorities.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/brute_force.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::v;

// Kundu and Shu, HIOS, figure 4. The text gives edges, paths and latencies. The times of operators
// and transfers are only in the figure; ours give everything that the text says.
Graph figure_4() {
  return test::small_graph({1, 4, 1, 3, 2, 4, 2, 3}, {{1, 2, 1},    // e1
                                                      {1, 3, 3},    // e2
                                                      {2, 4, 1},    // e3
                                                      {3, 5, 1},    // e4
                                                      {4, 6, 2},    // e5
                                                      {5, 6, 2},    // e6
                                                      {5, 7, 2},    // e7
                                                      {6, 8, 3},    // e8
                                                      {7, 8, 3}});  // e9
}

TEST(LongestPath, PaperExampleOfFigure4) {
  const Graph graph = figure_4();
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(priority_order(graph, costs), v({1, 2, 3, 4, 5, 6, 7, 8}));

  std::vector<PathTrial> rounds;
  const TimedSchedule found = map_longest_paths(
      graph, costs, {}, {}, [&](const PathTrial& round) { rounds.push_back(round); });

  ASSERT_EQ(rounds.size(), 3u);
  EXPECT_EQ(rounds[0].path.operators, v({1, 2, 4, 6, 8}));
  EXPECT_EQ(rounds[0].path.length_ms, 1 + 1 + 4 + 1 + 3 + 2 + 4 + 3 + 3);
  EXPECT_EQ(rounds[0].chosen, DeviceId(0));
  EXPECT_EQ(rounds[1].path.operators, v({3, 5}));  // with e2 and e6
  EXPECT_EQ(rounds[1].path.length_ms, 3 + 1 + 1 + 2 + 2);
  EXPECT_EQ(rounds[1].latency_ms, (std::vector<double>{18, 16}));
  EXPECT_EQ(rounds[1].chosen, DeviceId(1));
  EXPECT_EQ(rounds[2].path.operators, v({7}));  // with e7 and e9
  EXPECT_EQ(rounds[2].path.length_ms, 2 + 2 + 3);
  EXPECT_EQ(rounds[2].latency_ms, (std::vector<double>{18, 16}));
  EXPECT_EQ(rounds[2].chosen, DeviceId(1));

  EXPECT_EQ(found.schedule.devices[0], one_operator_stages(v({1, 2, 4, 6, 8})));
  EXPECT_EQ(found.schedule.devices[1], one_operator_stages(v({3, 5, 7})));
  EXPECT_EQ(simulate(graph, found.schedule, costs).latency_ms, 16);
  const auto best = test::brute_force(graph, platform, test::plain_costs_of(graph, platform));
  EXPECT_EQ(best.latency_ms, 16) << "the text calls the schedule optimal";
}

// {e2, v3, e4, v5, e7, v7, e9} is longer than P2, but v5 has an edge to v6, which is scheduled.
TEST(LongestPath, TheLongerPathOfFigure4IsNotValid) {
  const Graph graph = figure_4();
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const std::vector<OpId> order = priority_order(graph, costs);
  ValidPathSearch search(graph, costs, order);
  search.schedule(v({1, 2, 4, 6, 8}));
  const ValidPath path = search.longest();
  EXPECT_EQ(path.operators, v({3, 5}));
  const double longer_ms = 3 + 1 + 1 + 2 + 2 + 2 + 3;
  EXPECT_LT(path.length_ms, longer_ms);
}

/// Enumerates all paths through unscheduled operators; returns the greatest length of the valid
/// ones, or of all.
class PathWalker {
 public:
  PathWalker(const Graph& graph, const std::vector<bool>& scheduled, bool all)
      : graph_(graph), scheduled_(scheduled), all_(all) {}

  double longest() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (!scheduled_[i]) walk({OpId(i)}, 0);
    }
    return longest_;
  }

 private:
  void walk(std::vector<OpId> path, double inside_ms) {
    bool valid = true;
    for (std::size_t i = 1; i + 1 < path.size(); ++i) valid = valid && !touches(path[i]);
    if (valid || all_) {
      double length = inside_ms + border(path.front(), true) + border(path.back(), false);
      for (OpId op : path) length += graph_.op(op).time_ms;
      longest_ = std::max(longest_, length);
    }
    for (const Edge& edge : graph_.edges()) {
      if (edge.from != path.back() || scheduled_[edge.to.index()]) continue;
      std::vector<OpId> longer = path;
      longer.push_back(edge.to);
      walk(longer, inside_ms + *edge.transfer_ms);
    }
  }

  bool touches(OpId op) const {
    return std::any_of(graph_.edges().begin(), graph_.edges().end(), [&](const Edge& edge) {
      return (edge.to == op && scheduled_[edge.from.index()]) ||
             (edge.from == op && scheduled_[edge.to.index()]);
    });
  }

  double border(OpId op, bool incoming) const {
    double heaviest = 0;
    for (const Edge& edge : graph_.edges()) {
      const OpId own = incoming ? edge.to : edge.from;
      const OpId other = incoming ? edge.from : edge.to;
      if (own == op && scheduled_[other.index()]) heaviest = std::max(heaviest, *edge.transfer_ms);
    }
    return heaviest;
  }

  const Graph& graph_;
  const std::vector<bool>& scheduled_;
  bool all_;
  double longest_ = 0;
};

TEST(LongestPath, IsTheLongestOfAllValidPathsOrOfAll) {
  for (std::uint64_t seed = 0; seed < test::tries(500u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const bool all = seed % 2 == 1;
    Random random(seed, "paths");
    const Graph graph = test::random_graph(9, 0.35, {}, random);
    const Platform platform = test::devices(2, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    std::vector<bool> scheduled;
    for (std::size_t i = 0; i < graph.size(); ++i) scheduled.push_back(random.below(3) == 0);
    scheduled[random.below(graph.size())] = false;
    const std::vector<OpId> order = priority_order(graph, costs);
    ValidPathSearch search(graph, costs, order, all);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (scheduled[i]) search.schedule({OpId(i)});
    }
    const ValidPath path = search.longest();
    EXPECT_NEAR(path.length_ms, PathWalker(graph, scheduled, all).longest(), 1e-9);
    for (OpId op : path.operators) EXPECT_FALSE(scheduled[op.index()]);
  }
}

TEST(LongestPath, TiesGoToTheLowestDevice) {
  const Graph graph = test::small_graph({1, 1}, {});  // two operators without an edge
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule schedule = map_longest_paths(graph, costs, {}).schedule;
  EXPECT_EQ(schedule.devices[0], one_operator_stages(v({1})));
  EXPECT_EQ(schedule.devices[1], one_operator_stages(v({2})));
  EXPECT_TRUE(schedule.devices[2].empty());
}

/// Returns true if every device runs its operators in the order of their priorities.
bool keeps_order(const Graph& graph, const CostModel& costs, const Schedule& schedule) {
  const auto position = positions(priority_order(graph, costs));
  for (const auto& stages : schedule.devices) {
    for (std::size_t s = 1; s < stages.size(); ++s) {
      const OpId before = stages[s - 1].groups.front().front();
      const OpId after = stages[s].groups.front().front();
      if (position[before.index()] > position[after.index()]) return false;
    }
  }
  return true;
}

TEST(LongestPath, OnlyInsertionUsesGaps) {
  std::size_t gaps_used = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "insertion");
    test::CostStyle style;
    style.small_integers = seed % 2 == 0;
    const Graph graph = test::random_graph(30, 0.1, style, random);
    const Platform platform = test::devices(3, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    EXPECT_TRUE(keeps_order(graph, costs, map_longest_paths(graph, costs, {}).schedule));
    double promised = 0;
    const auto observe = [&](const PathTrial& round) {
      promised = round.latency_ms[round.chosen.index()];
    };
    const Schedule schedule =
        map_longest_paths(graph, costs, {.insertion = true}, {}, observe).schedule;
    EXPECT_TRUE(validate(graph, platform, schedule).empty());
    EXPECT_LE(simulate(graph, schedule, costs).latency_ms, promised);
    if (!keeps_order(graph, costs, schedule)) ++gaps_used;
  }
  EXPECT_GT(gaps_used, 50u);
}

// No device can run the whole path: it is cut to what one can run.
TEST(LongestPath, CutsAPathThatNoDeviceCanRun) {
  Graph graph = test::small_graph({1, 1, 1, 1}, {{1, 2, 1}, {2, 3, 1}, {3, 4, 1}});
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  operators[0].allowed = operators[1].allowed = {"gpu1"};
  operators[2].allowed = operators[3].allowed = {"gpu0"};
  graph = Graph("split", operators, edges);
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule schedule = map_longest_paths(graph, costs, {}).schedule;
  EXPECT_TRUE(validate(graph, platform, schedule).empty());
  EXPECT_EQ(schedule.devices[1], one_operator_stages(v({1, 2})));
}

TEST(LongestPath, OutOfTimeStillGivesAValidSchedule) {
  Random random(1, "late");
  const Graph graph = test::random_graph(40, 0.1, {}, random);
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  for (int rounds = 0; rounds < 8; ++rounds) {
    int left = rounds;
    const TimedSchedule found =
        map_longest_paths(graph, costs, {}, Deadline([&] { return left-- == 0; }));
    EXPECT_TRUE(found.timed_out);
    EXPECT_TRUE(validate(graph, platform, found.schedule).empty());
  }
}

}  // namespace
}  // namespace hios::scheduler
