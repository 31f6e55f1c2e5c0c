#include "scheduler/algorithms/list/strips.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/algorithms/list/strip_orders.h"
#include "scheduler/list/mapped_dispatch.h"
#include "scheduler/registry.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/first_finding.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::first_finding;

/// A stencil of 30 steps of 40 cells, 1 ms each, and transfers of 30 ms.
Graph stencil() {
  const Graph made = random_dag(parse_random_dag("family=stencil,width=40,n=1200"));
  std::vector<Operator> operators(made.operators().begin(), made.operators().end());
  for (Operator& op : operators) op.time_ms = 1;
  std::vector<Edge> edges(made.edges().begin(), made.edges().end());
  for (Edge& edge : edges) edge.transfer_ms = 30;
  return Graph("stencil", std::move(operators), std::move(edges));
}

TEST(StripOrders, AreTopologicalAndDiffer) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "strip orders");
    const Graph graph = test::random_graph(random.below(50), random.uniform(0, 0.3), {}, random);
    const Platform platform = test::devices(2, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const std::vector<std::vector<OpId>> orders = strip_orders(graph, costs);
    ASSERT_FALSE(orders.empty());
    for (const std::vector<OpId>& order : orders) {
      EXPECT_EQ(std::count(orders.begin(), orders.end(), order), 1);
      ASSERT_EQ(order.size(), graph.size());
      std::vector<std::size_t> position(graph.size(), graph.size());
      for (std::size_t i = 0; i < order.size(); ++i) position[order[i].index()] = i;
      EXPECT_EQ(std::count(position.begin(), position.end(), graph.size()), 0);
      for (const Edge& edge : graph.edges()) {
        EXPECT_LT(position[edge.from.index()], position[edge.to.index()]);
      }
    }
    if (HasFailure()) return;
  }
}

/// One of them is that of the wave through a stencil: the index of the cell plus that of the step.
TEST(StripOrders, FollowTheWaveOfAStencil) {
  const Graph graph = stencil();
  const Platform platform = test::devices(8, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const auto along_the_wave = [](const std::vector<OpId>& order) {
    const auto key = [](OpId op) { return op.index() / 40 + op.index() % 40; };
    return std::is_sorted(order.begin(), order.end(),
                          [&](OpId a, OpId b) { return key(a) < key(b); });
  };
  const auto orders = strip_orders(graph, costs);
  EXPECT_TRUE(std::any_of(orders.begin(), orders.end(), along_the_wave));
}

TEST(MappedDispatch, GivesTheSimulatedLatencyOfItsSchedule) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "dispatch");
    test::CostStyle style = test::style_by_number(seed);
    style.by_device = seed % 3 == 0;
    const Graph graph =
        test::random_graph(1 + random.below(40), random.uniform(0, 0.3), style, random);
    const Platform platform = test::devices(1 + random.below(4), 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    MappedDispatch dispatch(graph, costs);
    for (int i = 0; i < 3; ++i) {  // the object starts from scratch each time
      Mapping mapping;
      for (std::size_t op = 0; op < graph.size(); ++op) {
        DeviceId device(random.below(platform.size()));
        for (std::size_t d = 0; !costs.can_run(OpId(op), device); ++d) device = DeviceId(d);
        mapping.push_back(device);
      }
      const double latency = dispatch.latency_ms(mapping);
      const Schedule schedule = dispatch.schedule();
      EXPECT_DOUBLE_EQ(latency, simulate(graph, schedule, costs).latency_ms);
      for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
        for (const Stage& stage : schedule.devices[d]) {
          EXPECT_EQ(mapping[stage.groups[0][0].index()], DeviceId(d));
        }
      }
    }
    if (HasFailure()) return;
  }
}

TEST(Strips, KeepAllConstraints) {
  const char* devices[] = {"", ",speeds=1:0.4:0.7", ",speeds=1x2:0.5,memory=1",
                           ",memory=1.02,allowed=0.3", ",speeds=1:0.3:1,memory=1.2,colocate=0.4"};
  std::uint64_t seed = 0;
  int found = 0;
  for (const std::string family : {"stencil,width=5", "layered,layers=7", "tree", "dense"}) {
    for (const std::string unlike : devices) {
      const std::string words =
          "family=" + family + ",p=10,n=60,seed=" + std::to_string(seed++) + unlike;
      SCOPED_TRACE(words);
      const RandomProblem made = random_problem(parse_random_dag(words), test::devices(3, 2));
      const CostModel costs = CostModel::from_graph(made.graph, made.platform);
      EXPECT_TRUE(transfers_are_expensive(made.graph, costs));
      try {
        const TimedSchedule strips = schedule_strips(made.graph, costs);
        EXPECT_EQ(first_finding(made.graph, made.platform, strips.schedule), "");
        EXPECT_FALSE(strips.timed_out);
        ++found;
      } catch (const InputError&) {  // An operator is left without a device.
      }
    }
  }
  EXPECT_GE(found, 15);
}

TEST(Strips, OneScheduleIsMadeWithoutTime) {
  const Graph graph = stencil();
  const Platform platform = test::devices(8, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const TimedSchedule late = schedule_strips(graph, costs, Deadline([] { return true; }));
  EXPECT_TRUE(late.timed_out);
  EXPECT_EQ(first_finding(graph, platform, late.schedule), "");
  const Platform one = test::devices(1, 1);
  EXPECT_THROW(schedule_strips(graph, CostModel::from_graph(graph, one)), InputError);
}

/// Strips along the wave by hand, seven of equal work, take 384.5 ms; list scheduling 908.
TEST(Strips, AStencilWithExpensiveTransfers) {
  const Graph graph = stencil();
  const Platform platform = test::devices(8, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule schedule = schedule_strips(graph, costs).schedule;
  EXPECT_LE(simulate(graph, schedule, costs).latency_ms, 330);
  Context context;
  context.bound = LowerBound{};
  const auto latency = [&](const char* name, const char* option) {
    const Algorithm& algorithm = built_in().find(name);
    Options options(algorithm.options);
    if (*option) options.set(option);
    return algorithm.run(Problem(costs), options, context).latency_ms;
  };
  const double hios = latency("hios", "");
  EXPECT_LE(hios, 330);
  EXPECT_LE(latency("best", "iterations=20000"), hios);
}

TEST(Strips, CheapTransfersNeedNone) {
  for (const char* words : {"n=100,edges=200,layers=9", "family=independent,n=20"}) {
    const Graph graph = random_dag(parse_random_dag(words));
    const Platform platform = test::devices(3, 1);
    EXPECT_FALSE(transfers_are_expensive(graph, CostModel::from_graph(graph, platform)));
  }
}

}  // namespace
}  // namespace hios::scheduler
