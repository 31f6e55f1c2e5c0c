#include "scheduler/placement.h"

#include <gtest/gtest.h>

#include "hios/graph.h"
#include "support/expect_error.h"
#include "support/small_graph.h"

namespace hios::scheduler {
namespace {

Graph weighty(std::initializer_list<Bytes> bytes) {
  std::vector<Operator> operators;
  for (Bytes each : bytes) {
    Operator op;
    op.name = std::string("v").append(std::to_string(operators.size() + 1));
    op.time_ms = 1;
    op.has_time = true;
    op.memory_bytes = each / 2;
    op.parameter_bytes = each - each / 2;
    operators.push_back(op);
  }
  return Graph("weighty", std::move(operators), {});
}

Platform with_memory(std::initializer_list<Bytes> limits) {
  std::vector<Device> devices;
  for (Bytes limit : limits) {
    devices.push_back(
        {std::string("gpu").append(std::to_string(devices.size())), "gpu", 0, 1, limit, ""});
  }
  return Platform(std::move(devices));
}

std::vector<Bytes> held(const Graph& graph, const Platform& platform) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  std::vector<Bytes> result(platform.size(), 0);
  const auto placed = pack_operators(graph, costs, "best");
  for (std::size_t i = 0; i < graph.size(); ++i) {
    result[placed[i]->index()] +=
        graph.op(OpId(i)).memory_bytes + graph.op(OpId(i)).parameter_bytes;
  }
  return result;
}

TEST(Packing, FillsDevicesToTheLastByte) {
  EXPECT_EQ(held(weighty({5, 4, 3, 3, 3}), with_memory({9, 9})), (std::vector<Bytes>{9, 9}));
  EXPECT_EQ(held(weighty({7, 6, 4, 3}), with_memory({10, 10})), (std::vector<Bytes>{10, 10}));
}

TEST(Packing, WithoutLimitsDevicesAreBusyAlike) {
  EXPECT_EQ(held(weighty({1, 1, 1, 1, 1, 1}), with_memory({0, 0, 0})),
            (std::vector<Bytes>{2, 2, 2}));
}

TEST(Packing, LabelsStayTogetherWhereAllOfThemMayRun) {
  std::vector<Operator> operators;
  for (int i = 0; i < 3; ++i) {
    Operator op;
    op.name = std::string("v").append(std::to_string(i + 1));
    op.time_ms = 1;
    op.has_time = true;
    if (i < 2) op.colocate = "pair";
    if (i == 1) op.allowed = {"gpu1"};
    operators.push_back(op);
  }
  const Graph graph("labels", operators, {});
  const Platform platform = with_memory({0, 0});
  const auto placed = pack_operators(graph, CostModel::from_graph(graph, platform), "best");
  EXPECT_EQ(placed[0], DeviceId(1));
  EXPECT_EQ(placed[1], DeviceId(1));
  EXPECT_EQ(placed[2], DeviceId(0));
}

TEST(Packing, SaysWhichOperatorFoundNoRoom) {
  const Graph graph = weighty({2, 8, 3});
  const Platform platform = with_memory({7, 7});
  const CostModel costs = CostModel::from_graph(graph, platform);
  test::expect_error([&] { pack_operators(graph, costs, "best"); }, {"best", "v2", "memory_bytes"});
}

}  // namespace
}  // namespace hios::scheduler
