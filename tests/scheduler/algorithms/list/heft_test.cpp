#include "scheduler/algorithms/list/heft.h"

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/algorithms/list/clustering.h"
#include "scheduler/algorithms/list/peft.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/sanitized.h"

// Schedulers by earliest finish: HEFT, PEFT and the mapping of clusters.

namespace hios::scheduler {
namespace {

/// Topcuoglu, Hariri and Wu, Fig. 2 and its table: ten operators, three unlike devices, given
/// transfers between any two.
Graph paper_graph() {
  const double times[10][3] = {{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
                               {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
  const Graph plain = test::small_graph({0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {{1, 2, 18},
                                                                         {1, 3, 12},
                                                                         {1, 4, 9},
                                                                         {1, 5, 11},
                                                                         {1, 6, 14},
                                                                         {2, 8, 19},
                                                                         {2, 9, 16},
                                                                         {3, 7, 23},
                                                                         {4, 8, 27},
                                                                         {4, 9, 23},
                                                                         {5, 9, 13},
                                                                         {6, 8, 15},
                                                                         {7, 10, 17},
                                                                         {8, 10, 11},
                                                                         {9, 10, 13}});
  std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
  for (std::size_t i = 0; i < 10; ++i) {
    operators[i].has_time = false;
    for (std::size_t d = 0; d < 3; ++d) {
      operators[i].time_by_device["gpu" + std::to_string(d)] = times[i][d];
    }
  }
  return Graph("heft", operators, {plain.edges().begin(), plain.edges().end()});
}

TEST(Heft, GivesThePapersRanksAndSchedule) {
  const Graph graph = paper_graph();
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const std::vector<double> ranks = upward_ranks(graph, costs);
  const double expected[] = {108,          77,           80,           80,           69,
                             63 + 1.0 / 3, 42 + 2.0 / 3, 35 + 2.0 / 3, 44 + 1.0 / 3, 14 + 2.0 / 3};
  for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(ranks[i], expected[i], 1e-9) << i;
  const Schedule schedule = schedule_heft(graph, costs, {.least_ranks = false}).schedule;
  EXPECT_NEAR(simulate(graph, schedule, costs).latency_ms, 80, 1e-9);
}

TEST(Heft, RanksByLeastTimesAreTriedToo) {
  const Graph graph = paper_graph();
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const std::vector<double> ranks = upward_ranks(graph, costs, RankTimes::kLeast);
  EXPECT_EQ(ranks[9], 7);
  EXPECT_EQ(ranks[7], 5 + 11 + 7);
  const auto latency = [&](bool least) {
    const Schedule schedule = schedule_heft(graph, costs, {.least_ranks = least}).schedule;
    return simulate(graph, schedule, costs).latency_ms;
  };
  EXPECT_LE(latency(true), latency(false));
}

TEST(Peft, LooksAheadByTheLeastCostOfWhatFollows) {
  const Graph graph = paper_graph();
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const std::vector<double> table = optimistic_costs(graph, costs);
  // By definition: the maximum over consumers of the minimum over devices.
  for (const OpId op : graph.topological()) {
    for (std::size_t p = 0; p < 3; ++p) {
      double longest = 0;
      for (const EdgeId e : graph.out_edges(op)) {
        const OpId to = graph.edge(e).to;
        double least = 1e9;
        for (std::size_t q = 0; q < 3; ++q) {
          least = std::min(least, table[to.index() * 3 + q] + costs.operator_ms(to, DeviceId(q)) +
                                      (p == q ? 0 : costs.mean_transfer_ms(e)));
        }
        longest = std::max(longest, least);
      }
      EXPECT_DOUBLE_EQ(table[op.index() * 3 + p], longest) << op.index() << " on " << p;
    }
  }
}

// The second device ends the first operator sooner, and cannot run its consumers.
TEST(Peft, AvoidsADeviceThatIsWrongForTheRest) {
  const Graph plain = test::small_graph({4, 4}, {{1, 2, 10}});
  std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
  operators[0].time_by_device["gpu1"] = 3;
  operators[1].allowed = {"gpu0"};
  const Graph graph("ahead", operators, {plain.edges().begin(), plain.edges().end()});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(simulate(graph, schedule_heft(graph, costs, {}).schedule, costs).latency_ms,
            3 + 10 + 4);
  EXPECT_EQ(simulate(graph, schedule_peft(graph, costs).schedule, costs).latency_ms, 4 + 4);
}

TEST(Clustering, JoinsExpensiveTransfersAndDividesTheRest) {
  // Two chains that meet at the end; inside a chain transfers are expensive.
  const Graph graph = test::small_graph({2, 2, 2, 2, 2, 1},
                                        {{1, 2, 9}, {2, 3, 9}, {4, 5, 9}, {3, 6, 1}, {5, 6, 1}});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const auto clusters = dominant_sequence_clusters(graph, costs);
  ASSERT_EQ(clusters.size(), 2u);
  EXPECT_EQ(clusters[0], test::v({1, 2, 3, 6}));
  EXPECT_EQ(clusters[1], test::v({4, 5}));
  const Schedule schedule = schedule_clusters(graph, costs).schedule;
  EXPECT_EQ(simulate(graph, schedule, costs).latency_ms, 7);
}

TEST(Clustering, EveryOperatorIsInOneCluster) {
  for (std::uint64_t seed = 0; seed < test::tries(100u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "clustering");
    test::CostStyle style;
    style.small_integers = seed % 2 == 0;
    style.by_device = seed % 3 == 0;
    const Graph graph = test::random_graph(30, 0.1, style, random);
    const Platform platform = test::devices(3, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    std::vector<int> times(graph.size(), 0);
    for (const auto& cluster : dominant_sequence_clusters(graph, costs)) {
      EXPECT_FALSE(cluster.empty());
      for (const OpId op : cluster) ++times[op.index()];
    }
    EXPECT_EQ(times, std::vector<int>(graph.size(), 1));
  }
}

/// All of them respect labels and memory, also where their own rules leave an operator over, and
/// with an expired deadline.
TEST(EarliestFinish, ConstraintsAreKeptAndTimeMayBeUp) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "constraints");
    const Graph plain = test::random_graph(12, 0.2, {}, random);
    std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
    std::vector<Bytes> limits(3, 0);
    for (std::size_t i = 0; i < operators.size(); ++i) {
      operators[i].memory_bytes = 1 + random.below(9);
      operators[i].parameter_bytes = 0;
      const std::size_t device = random.below(3);
      limits[device] += operators[i].memory_bytes;
      if (random.below(3) == 0) operators[i].colocate = "with" + std::to_string(device);
    }
    const Graph graph("tight", operators, {plain.edges().begin(), plain.edges().end()});
    std::vector<Device> devices;
    for (std::size_t d = 0; d < 3; ++d) {
      devices.push_back({"gpu" + std::to_string(d), "gpu", 0, 1, limits[d] + 1, ""});
    }
    const Platform platform(devices);
    const CostModel costs = CostModel::from_graph(graph, platform);
    for (const bool late : {false, true}) {
      const Deadline deadline([late] { return late; });
      for (const TimedSchedule& found :
           {schedule_heft(graph, costs, {}, deadline), schedule_peft(graph, costs, deadline),
            schedule_clusters(graph, costs, deadline)}) {
        EXPECT_EQ(found.timed_out, late);
        EXPECT_TRUE(validate(graph, platform, found.schedule).empty());
      }
    }
  }
}

}  // namespace
}  // namespace hios::scheduler
