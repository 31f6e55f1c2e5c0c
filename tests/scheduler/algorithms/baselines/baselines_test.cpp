#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/batches.h"
#include "scheduler/algorithms/baselines/annealing.h"
#include "scheduler/algorithms/baselines/evolution.h"
#include "scheduler/algorithms/baselines/greedy.h"
#include "scheduler/algorithms/baselines/met.h"
#include "scheduler/algorithms/baselines/sequential.h"
#include "scheduler/algorithms/list/getf.h"
#include "scheduler/algorithms/list/m_sct.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/sanitized.h"

// The papers' baselines on unlike devices, with decisions that follow by hand. oracle_test and
// constraints_test check that their schedules are valid and not better than brute force.

namespace hios::scheduler {
namespace {

constexpr std::int64_t kSteps = 5'000;

/// Returns the operators of a graph with the second device `factor` times as slow.
Graph with_slow_second(const Graph& graph, double factor) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) op.time_by_device["gpu1"] = op.time_ms * factor;
  return Graph(graph.name(), operators, {graph.edges().begin(), graph.edges().end()});
}

double latency_of(const Graph& graph, const CostModel& costs, const TimedSchedule& found) {
  EXPECT_TRUE(validate(graph, costs.platform(), found.schedule).empty());
  return simulate(graph, found.schedule, costs).latency_ms;
}

TEST(Sequential, RunsTheFirstInputsThroughTheNetworkBeforeTheNext) {
  Operator a, b, c;
  a.name = "a", b.name = "b", c.name = "c";
  for (Operator* op : {&a, &b, &c}) op->time_by_size["cpu"] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}};
  const Graph whole("chain", {a, b, c}, {{OpId(0), OpId(1), 0, {}}, {OpId(1), OpId(2), 0, {}}}, {},
                    4);
  const auto order = [&](std::vector<Batch> batches) {
    const Graph graph = divide(SizedGraphs(whole, batch_sizes(4, std::int64_t{4})), batches);
    std::string names;
    for (const Stage& stage : sequential(graph)) {
      names += graph.op(stage.groups.front().front()).name + " ";
    }
    return names;
  };
  EXPECT_EQ(order(even_batches(whole, 4, 2)), "a[0, 2) b[0, 2) c[0, 2) a[2, 4) b[2, 4) c[2, 4) ");
  EXPECT_EQ(order({{OpId(0), {0, 2}},
                   {OpId(0), {2, 4}},
                   {OpId(1), {0, 1}},
                   {OpId(1), {1, 4}},
                   {OpId(2), {0, 4}}}),
            "a[0, 2) b[0, 1) a[2, 4) b[1, 4) c ")
      << "what is ready, by inputs";
}

TEST(Baselines, MetIgnoresWhatWaitsAndGreedyDoesNot) {
  const Graph graph = with_slow_second(test::small_graph({2, 2, 2}, {}), 1.5);
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(latency_of(graph, costs, schedule_met(graph, costs)), 6);
  EXPECT_EQ(latency_of(graph, costs, schedule_greedily(graph, costs)), 4);
}

// A wave has the short operators first; by priority the long chain would be first.
TEST(Baselines, GreedyGoesByWavesNotByPriority) {
  const Graph graph = test::small_graph({2, 2, 3, 4}, {{3, 4, 9}});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(latency_of(graph, costs, schedule_greedily(graph, costs)), 2 + 3 + 4);
}

TEST(Baselines, SearchesFindTheShortestMappingOfASmallGraph) {
  // Two chains should be separated, though each operator alone is fastest on the first device.
  const Graph graph = with_slow_second(
      test::small_graph({3, 3, 3, 3, 3, 3}, {{1, 2, 5}, {2, 3, 5}, {4, 5, 5}, {5, 6, 5}}), 1.1);
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  for (std::uint64_t seed = 0; seed < test::tries(5u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto annealed = schedule_annealing(graph, costs, kSteps, seed);
    const auto evolved = schedule_evolution(graph, costs, kSteps, seed);
    EXPECT_NEAR(latency_of(graph, costs, annealed), 9.9, 1e-9);
    EXPECT_NEAR(latency_of(graph, costs, evolved), 9.9, 1e-9);
  }
}

TEST(Baselines, EvolutionIsNeverWorseThanMetAndMoreStepsAreNoLoss) {
  for (std::uint64_t seed = 0; seed < test::tries(30u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "evolution");
    test::CostStyle style;
    style.by_device = seed % 2 == 0;
    const Graph graph = test::random_graph(40, 0.07, style, random);
    const Platform platform = test::devices(3, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    double least = latency_of(graph, costs, schedule_met(graph, costs));
    for (const std::int64_t steps : {1, 10, 100, 1000}) {
      const double ms = latency_of(graph, costs, schedule_evolution(graph, costs, steps, seed));
      EXPECT_LE(ms, least);
      least = ms;
    }
  }
}

TEST(Baselines, TheSameSeedGivesTheSameScheduleAndTimeMayBeUp) {
  Random random(3, "seeds");
  const Graph graph = test::random_graph(60, 0.05, {}, random);
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  for (const auto search : {schedule_annealing, schedule_evolution}) {
    const auto run = [&](std::uint64_t seed) { return search(graph, costs, kSteps, seed, {}); };
    EXPECT_EQ(run(1).schedule, run(1).schedule);
    EXPECT_NE(run(1).schedule, run(2).schedule);
    EXPECT_FALSE(run(1).timed_out);
    int asked = 0;
    const Deadline soon([&asked] { return ++asked > 3; });
    const TimedSchedule cut = search(graph, costs, kSteps, 1, soon);
    EXPECT_TRUE(cut.timed_out);
    EXPECT_TRUE(validate(graph, platform, cut.schedule).empty());
  }
}

TEST(MSct, FavouriteChildrenAreAMatchingAlongLongestPaths) {
  //  v1 → v2 → v4, v1 → v3 → v4: the path through v2 is the longer one.
  const Graph graph = test::small_graph({1, 5, 4, 1}, {{1, 2, 2}, {1, 3, 2}, {2, 4, 2}, {3, 4, 2}});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const auto favourites = favourite_children(graph, costs);
  EXPECT_EQ(favourites[0], OpId(1));
  EXPECT_EQ(favourites[1], OpId(3));
  EXPECT_FALSE(favourites[2]);
  EXPECT_FALSE(favourites[3]);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "favourites");
    const Graph other = test::random_graph(30, 0.1, {}, random);
    const Platform other_platform = test::devices(2, 1);
    const CostModel other_costs = CostModel::from_graph(other, other_platform);
    std::vector<int> parents(other.size(), 0);
    const auto children = favourite_children(other, other_costs);
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (!children[i]) continue;
      ++parents[children[i]->index()];
      const auto out = other.out_edges(OpId(i));
      EXPECT_TRUE(std::any_of(out.begin(), out.end(),
                              [&](EdgeId e) { return other.edge(e).to == *children[i]; }));
    }
    for (const int count : parents) EXPECT_LE(count, 1);
  }
}

// v4 runs in parallel with v1 and v3, and then its favourite v5. v6, also a consumer of v4, could
// start on v1's device a moment before v1's favourite v2, whose other input is in transfer; it goes
// elsewhere.
TEST(MSct, ADeviceWaitsForAFavouriteChild) {
  const Graph graph =
      test::small_graph({2, 6, 2.5, 2.2, 9, 1}, {{1, 2, 2}, {3, 2, 0.1}, {4, 5, 0.5}, {4, 6, 0.1}});
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const auto favourites = favourite_children(graph, costs);
  EXPECT_EQ(favourites[0], OpId(1));
  EXPECT_EQ(favourites[3], OpId(4));
  const Schedule schedule = schedule_m_sct(graph, costs).schedule;
  EXPECT_TRUE(validate(graph, platform, schedule).empty());
  const auto device_of = [&](OpId op) {
    for (std::size_t d = 0; d < 3; ++d) {
      for (const Stage& stage : schedule.devices[d]) {
        if (stage.groups[0][0] == op) return d;
      }
    }
    return std::size_t{3};
  };
  EXPECT_EQ(device_of(OpId(1)), device_of(OpId(0)));
  EXPECT_EQ(device_of(OpId(5)), device_of(OpId(2)));
}

Graph of_speeds(std::initializer_list<double> factors, std::size_t operators) {
  std::vector<Operator> list(operators);
  for (std::size_t i = 0; i < operators; ++i) {
    list[i].name = std::string("v").append(std::to_string(i));
    std::size_t d = 0;
    for (const double factor : factors) {
      list[i].time_by_device["gpu" + std::to_string(d++)] = factor;
    }
  }
  return Graph("speeds", list, {});
}

TEST(Getf, GroupsByPowersOfSpeedAndLeavesOutTheSlowest) {
  const Graph graph = of_speeds({1, 1.5, 2.5, 3.5, 9}, 4);
  const Platform platform = test::devices(5, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  // m = 5: from 1/5 of the fastest on by powers of ln 5 / ln ln 5 = 3.38; 1/9 is too slow.
  const auto groups = speed_groups(graph, costs);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0], (std::vector<DeviceId>{DeviceId(1), DeviceId(2), DeviceId(3)}));
  EXPECT_EQ(groups[1], (std::vector<DeviceId>{DeviceId(0)}));
}

TEST(Getf, WorkGoesToASlowerGroupAsFarAsItHelps) {
  const Graph graph = of_speeds({1, 2}, 9);
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const auto groups = speed_groups(graph, costs);
  ASSERT_EQ(groups.size(), 2u);
  const auto group_of = group_assignment(graph, costs, groups);
  EXPECT_EQ(std::count(group_of.begin(), group_of.end(), 0u), 3);  // 3 · 2 compared with 6 · 1
  EXPECT_EQ(latency_of(graph, costs, schedule_getf(graph, costs)), 6);
}

TEST(Getf, AnOperatorOfOneSlowDeviceRunsThere) {
  const Graph plain = of_speeds({1, 9}, 3);
  std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
  operators[1].allowed = {"gpu1"};
  const Graph graph("slow", operators, {});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const auto group_of = group_assignment(graph, costs, speed_groups(graph, costs));
  EXPECT_TRUE(group_of[0]);
  EXPECT_EQ(latency_of(graph, costs, schedule_getf(graph, costs)), 9);
}

}  // namespace
}  // namespace hios::scheduler
