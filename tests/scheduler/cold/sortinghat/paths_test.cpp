#include "scheduler/cold/sortinghat/paths.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace hios::scheduler::sortinghat {
namespace {

constexpr Bytes kMegabyte = 1'000'000;
constexpr StoreId kDisk(0), kDram(1);

/// Three devices below one memory bus: two on one PCIe bus of 2 GB/s, and one on another. The first
/// two have a link; all other pairs go over PCIe.
Platform server(double memory_gb_per_s) {
  std::vector<Device> devices(3);
  for (std::size_t d = 0; d < 3; ++d) devices[d].name = "gpu" + std::to_string(d);
  for (Device& device : devices) device.kind = "gpu";
  std::vector<Route> routes = {{kDisk, DeviceId(0), {BusId(0), BusId(1)}, 0, 0.5},
                               {kDram, DeviceId(0), {BusId(0), BusId(1)}, 0, 100},
                               {kDram, DeviceId(1), {BusId(0), BusId(1)}, 0, 100},
                               {kDram, DeviceId(2), {BusId(0), BusId(2)}, 0, 100}};
  for (std::size_t from = 0; from < 3; ++from) {
    for (std::size_t to = 0; to < 3; ++to) {
      if (from == to) continue;
      const BusId bus(from + to == 1 ? 3 : to == 2 ? 2 : 1);
      routes.push_back({DeviceId(from), DeviceId(to), {bus}, 0, 100});
    }
  }
  return Platform(
      std::move(devices), {{"disk", "", StoreKind::kDisk}, {"dram", "", StoreKind::kMemory}},
      {{"memory", memory_gb_per_s}, {"pcie0", 2}, {"pcie1", 4}, {"nvlink", 10}}, std::move(routes));
}

Graph one_operator() {
  Operator op;
  op.name = "a";
  op.time_ms = 1;
  op.has_time = true;
  op.time_by_device["gpu2"] = 4;
  op.parameter_bytes = 4 * kMegabyte;
  op.in_place_ms = 3;
  op.in_place_bytes = 2 * kMegabyte;
  return Graph("one", {op}, {});
}

class PathsOfAServer : public ::testing::Test {
 protected:
  Paths paths(const PathRules& rules = {}) const { return {graph_, costs_, rules}; }

  const Graph graph_ = one_operator();
  const Platform platform_ = server(20);
  const CostModel costs_ = CostModel::from_graph(graph_, platform_);
};

TEST_F(PathsOfAServer, DevicesShareABusIfTheirLoadsWouldSlowEachOther) {
  EXPECT_EQ(paths().bus_of(), (std::vector<std::size_t>{0, 0, 1}));
  EXPECT_EQ(paths().buses(), 2u);
  EXPECT_EQ(paths({.own_bus = true}).bus_of(), (std::vector<std::size_t>{0, 1, 2}));
  const Platform narrow = server(3);
  const CostModel costs = CostModel::from_graph(graph_, narrow);
  EXPECT_EQ(Paths(graph_, costs, {}).bus_of(), (std::vector<std::size_t>{0, 0, 0}));
}

TEST_F(PathsOfAServer, TimesAreThoseAloneFromTheNearestStore) {
  EXPECT_EQ(paths().store(0), kDram);
  EXPECT_EQ(paths().load_ms(4 * kMegabyte), (std::vector<double>{2, 2, 1}));
  EXPECT_EQ(paths().loaded_ms(OpId(0)), (std::vector<double>{1, 1, 4}));
  EXPECT_EQ(paths().in_place_ms(OpId(0)), (std::vector<double>{3, 3, 3}));
  const std::vector<double> copies = paths().copy_ms(20 * kMegabyte);
  EXPECT_EQ(copies[0 * 3 + 1], 2);
  EXPECT_EQ(copies[1 * 3 + 0], 2);
  EXPECT_EQ(copies[0 * 3 + 2], 5);
  EXPECT_EQ(copies[2 * 3 + 1], 10);
}

TEST_F(PathsOfAServer, MeanSpeedsMakeAllEqual) {
  const Paths mean = paths({.mean_speeds = true});
  EXPECT_EQ(mean.load_ms(3 * kMegabyte), (std::vector<double>{1.25, 1.25, 1.25}));
  EXPECT_EQ(mean.loaded_ms(OpId(0)), (std::vector<double>{2, 2, 2}));
}

// Section 3.4: twice the devices on the bus; 1.5 for a direct link, else the number of devices.
TEST_F(PathsOfAServer, ThePapersContentionMultiplies) {
  const Paths contended = paths({.paper_contention = true});
  EXPECT_EQ(contended.in_place_ms(OpId(0)), (std::vector<double>{12, 12, 6}));
  const std::vector<double> copies = contended.copy_ms(20 * kMegabyte);
  EXPECT_EQ(copies[0 * 3 + 1], 3);
  EXPECT_EQ(copies[0 * 3 + 2], 15);
}

}  // namespace
}  // namespace hios::scheduler::sortinghat
