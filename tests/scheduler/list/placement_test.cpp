#include "scheduler/list/placement.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios::scheduler {
namespace {

using test::devices_with_memory;
using test::v;

/// Returns four operators of a millisecond without edges, with these sizes and labels.
Graph four(const std::vector<Bytes>& bytes, const std::vector<std::string>& labels) {
  const Graph plain = test::small_graph({1, 1, 1, 1}, {});
  std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].memory_bytes = bytes[i];
    operators[i].colocate = labels[i];
  }
  return Graph("four", operators, {});
}

TEST(Placement, OperatorsOfALabelFollowTheFirst) {
  const Graph graph = four({0, 0, 0, 0}, {"a", "", "a", "b"});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  Placement placement(graph, costs);
  EXPECT_EQ(placement.units().size(), 1u) << "a label of one operator binds nothing";
  EXPECT_TRUE(placement.may_go(OpId(2), DeviceId(0)));
  placement.place(OpId(0), DeviceId(1));
  EXPECT_FALSE(placement.may_go(OpId(2), DeviceId(0)));
  EXPECT_TRUE(placement.may_go(OpId(2), DeviceId(1)));
  EXPECT_TRUE(placement.may_go(OpId(3), DeviceId(0)));
}

TEST(Placement, TheFirstOfALabelReservesMemoryForAll) {
  const Graph graph = four({10, 5, 20, 1}, {"a", "", "a", ""});
  const Platform platform = devices_with_memory({32, 0});
  const CostModel costs = CostModel::from_graph(graph, platform);
  Placement placement(graph, costs);
  EXPECT_EQ(placement.bytes(OpId(0)), 30u);
  placement.place(OpId(0), DeviceId(0));
  EXPECT_EQ(placement.room(DeviceId(0)), 2u);
  EXPECT_FALSE(placement.may_go(OpId(1), DeviceId(0)));
  EXPECT_TRUE(placement.may_go(OpId(3), DeviceId(0)));
  EXPECT_TRUE(placement.may_go(OpId(2), DeviceId(0))) << "has its room already";
  EXPECT_EQ(placement.room(DeviceId(1)), Placement::kNoLimit);
}

TEST(Placement, CountsOperatorsThatADeviceHoldsTogether) {
  const Graph graph = four({10, 5, 20, 1}, {"a", "", "a", ""});
  const Platform platform = devices_with_memory({34, 30, 10});
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Placement placement(graph, costs);
  EXPECT_EQ(placement.fitting(v({1, 3, 4, 2}), DeviceId(0)), 3u);
  EXPECT_EQ(placement.fitting(v({1, 3, 4, 2}), DeviceId(1)), 2u);
  EXPECT_EQ(placement.fitting(v({1, 3, 4, 2}), DeviceId(2)), 0u);
  EXPECT_EQ(placement.fitting(v({4, 2, 1}), DeviceId(2)), 2u);
}

TEST(PackOperators, BalancesWorkWhereMemoryAllows) {
  const Graph graph = four({1, 1, 1, 1}, {"", "", "", ""});
  const Platform platform = devices_with_memory({4, 4});
  const CostModel costs = CostModel::from_graph(graph, platform);
  std::size_t on_first = 0;
  for (const auto& device : pack_operators(graph, costs, "x")) on_first += *device == DeviceId(0);
  EXPECT_EQ(on_first, 2u);
}

// By work, 6 and 5 would go to different devices, and neither would have room for 4 and 3.
TEST(PackOperators, FillsDevicesByMemoryIfNecessary) {
  const Graph graph = four({6, 3, 5, 4}, {"", "", "", ""});
  const Platform platform = devices_with_memory({9, 9});
  const CostModel costs = CostModel::from_graph(graph, platform);
  std::vector<Bytes> held(2, 0);
  const auto packed = pack_operators(graph, costs, "x");
  for (std::size_t i = 0; i < graph.size(); ++i) {
    held[packed[i]->index()] += graph.op(OpId(i)).memory_bytes;
  }
  EXPECT_EQ(held, (std::vector<Bytes>{9, 9}));
}

// By falling size, 6 goes to the device of 8, and no operator fills the rest; 6 with 4 and 5 with 3
// fit.
TEST(PackOperators, TriesOtherOrdersIfSortedOnesFail) {
  const Graph graph = four({6, 3, 4, 5}, {"", "", "", ""});
  const Platform platform = devices_with_memory({10, 8});
  const CostModel costs = CostModel::from_graph(graph, platform);
  std::vector<Bytes> held(2, 0);
  const auto packed = pack_operators(graph, costs, "x");
  for (std::size_t i = 0; i < graph.size(); ++i) {
    held[packed[i]->index()] += graph.op(OpId(i)).memory_bytes;
  }
  EXPECT_EQ(held, (std::vector<Bytes>{10, 8}));
}

TEST(PackOperators, MessageNamesTheOperatorLeftOver) {
  const Graph graph = four({6, 6, 6, 1}, {"", "", "", ""});
  const Platform platform = devices_with_memory({9, 9});
  const CostModel costs = CostModel::from_graph(graph, platform);
  test::expect_error([&] { pack_operators(graph, costs, "hios-lp"); },
                     {"hios-lp", "there is no placement that fits memory", "v3"});
}

}  // namespace
}  // namespace hios::scheduler
