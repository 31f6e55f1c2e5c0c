#include "scheduler/list/mapping.h"

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using Move = Genes::Move;

TEST(BreadthFirstOrder, GoesByWaves) {
  const Graph graph =
      test::small_graph({1, 1, 1, 1, 1}, {{1, 2, 0}, {2, 5, 0}, {1, 5, 0}, {3, 4, 0}});
  EXPECT_EQ(breadth_first_order(graph), test::v({1, 3, 2, 4, 5}));
  EXPECT_TRUE(breadth_first_order(Graph("empty", {}, {})).empty());
}

TEST(MappingTimes, AgreeWithTheSimulator) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "mapping");
    test::CostStyle style;
    style.small_integers = seed % 3 == 0;
    const Graph graph = test::random_graph(30, 0.1, style, random);
    const Platform plain = test::devices(3, 1);
    const Platform platform = seed % 2 == 0 ? plain : test::with_receive(plain, 0.7);
    const CostModel costs = CostModel::from_graph(graph, platform);
    MappingTimes times(graph, costs, breadth_first_order(graph));
    for (int i = 0; i < 3; ++i) {
      Mapping mapping;
      for (std::size_t op = 0; op < graph.size(); ++op) mapping.emplace_back(random.below(3));
      const Schedule schedule = times.schedule(mapping);
      EXPECT_TRUE(validate(graph, platform, schedule).empty());
      EXPECT_DOUBLE_EQ(times.latency_ms(mapping), simulate(graph, schedule, costs).latency_ms);
    }
  }
}

TEST(FastestMapping, TakesTheFastestDeviceWithRoomAndLabelsBySum) {
  Graph graph = test::small_graph({3, 3, 3, 3}, {});
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) {
    op.time_by_device["gpu1"] = 2;
    op.memory_bytes = 10;
  }
  operators[2].time_by_device["gpu1"] = 5;  // the label's sum is 7 there, 6 on gpu0
  operators[2].colocate = operators[3].colocate = "pair";
  graph = Graph("labels", operators, {});
  const Platform roomy({{"gpu0", "gpu", 0, 1, 0, ""}, {"gpu1", "gpu", 0, 1, 0, ""}});
  const Platform tight({{"gpu0", "gpu", 0, 1, 0, ""}, {"gpu1", "gpu", 0, 1, 15, ""}});
  const auto mapping = [&](const Platform& platform) {
    const CostModel costs = CostModel::from_graph(graph, platform);
    return fastest_mapping(graph, costs, graph.topological(), "met", {});
  };
  const DeviceId first(0), second(1);
  EXPECT_EQ(mapping(roomy), (Mapping{second, second, first, first}));
  EXPECT_EQ(mapping(tight), (Mapping{second, first, first, first}));
}

TEST(FastestMapping, PacksWhereGreedyChoicesLeaveAnOperatorOver) {
  // The small operators are fastest on the only device that holds the large one.
  std::vector<Operator> operators(3);
  for (std::size_t i = 0; i < 3; ++i) {
    operators[i].name = std::string("v").append(std::to_string(i));
    operators[i].has_time = true;
    operators[i].time_ms = 2;
    operators[i].time_by_device["gpu0"] = 1;
    operators[i].memory_bytes = i < 2 ? 10 : 20;
  }
  const Graph graph("left over", operators, {});
  const Platform platform({{"gpu0", "gpu", 0, 1, 20, ""}, {"gpu1", "gpu", 0, 1, 20, ""}});
  const Platform smaller({{"gpu0", "gpu", 0, 1, 20, ""}, {"gpu1", "gpu", 0, 1, 15, ""}});
  const CostModel costs = CostModel::from_graph(graph, platform);
  const std::vector<OpId> order = {OpId(0), OpId(1), OpId(2)};
  const Mapping mapping = fastest_mapping(graph, costs, order, "met", {});
  const MappingTimes times(graph, costs, order);
  EXPECT_TRUE(validate(graph, platform, times.schedule(mapping)).empty());
  const CostModel none = CostModel::from_graph(graph, smaller);
  EXPECT_THROW(fastest_mapping(graph, none, order, "met", {}), InputError);
}

TEST(Genes, AreOperatorsAndLabelsWithTwoOrMoreDevices) {
  Graph graph = test::small_graph({1, 1, 1, 1}, {});
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  operators[0].colocate = operators[2].colocate = "pair";
  operators[3].allowed = {"gpu1"};
  graph = Graph("genes", operators, {});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const DeviceId first(0), second(1);
  Genes genes(graph, costs, {first, first, first, second});
  ASSERT_EQ(genes.size(), 2u);
  EXPECT_TRUE(genes.move(std::vector<Move>{{0, second}}));
  EXPECT_EQ(genes.mapping(), (Mapping{second, first, second, second}));
}

TEST(Genes, MemoryHoldsAnExchangeButNotItsHalves) {
  Graph graph = test::small_graph({1, 1, 1}, {});
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) op.memory_bytes = 10;
  graph = Graph("exchange", operators, {});
  const Platform platform(
      {{"gpu0", "gpu", 0, 1, 10, ""}, {"gpu1", "gpu", 0, 1, 10, ""}, {"gpu2", "gpu", 0, 1, 0, ""}});
  const CostModel costs = CostModel::from_graph(graph, platform);
  const DeviceId first(0), second(1), third(2);
  Genes genes(graph, costs, {first, second, third});
  for (int i = 0; i < 3; ++i) {  // a refused move changes nothing
    EXPECT_FALSE(genes.move(std::vector<Move>{{0, second}}));
    EXPECT_FALSE(genes.move(std::vector<Move>{{2, first}, {1, third}}));
    EXPECT_EQ(genes.mapping(), (Mapping{first, second, third}));
  }
  EXPECT_TRUE(genes.move(std::vector<Move>{{0, second}, {1, first}}));
  EXPECT_TRUE(genes.move(std::vector<Move>{{0, third}}));
  EXPECT_TRUE(genes.move(std::vector<Move>{{2, second}}));
  EXPECT_EQ(genes.mapping(), (Mapping{third, first, second}));
}

}  // namespace
}  // namespace hios::scheduler
