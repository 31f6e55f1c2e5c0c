// Platforms of machines that are reported in neutral words.

#include "hios/discovery/machine_platform.h"

#include <gtest/gtest.h>

#include "hios/base/error.h"

namespace hios::discovery {
namespace {

/// Two packages with a node and a card each, and a disk next to the first.
Machine two_packages() {
  Machine machine;
  machine.host = "box";
  machine.nodes = {{.memory_bytes = 64, .package = 0, .cores = {0, 1}, .gb_per_s = 50},
                   {.memory_bytes = 64, .package = 1, .cores = {2, 3}}};
  machine.links = {{.address = "00:01.0", .above = {}, .node = 0, .gb_per_s = 16},
                   {.address = "01:00.0", .above = 0, .node = 0, .gb_per_s = 8},
                   {.address = "80:01.0", .above = {}, .node = 1},
                   {.address = "02:00.0", .above = {}, .node = 0, .gb_per_s = 4}};
  machine.gpus = {{.model = "NVIDIA X", .memory_bytes = 7, .link = 1}, {.model = "", .link = 2}};
  machine.disks = {{"nvme0n1", 3, 0}};
  return machine;
}

const Route& route(const Platform& platform, std::string_view from, std::string_view to) {
  const Topology& topology = *platform.topology();
  const auto store = topology.find_store(from);
  const Holder holder = store ? Holder(*store) : Holder(*platform.find(from));
  return topology.route(topology.find(holder, *platform.find(to)).value());
}

std::string over(const Platform& platform, std::string_view from, std::string_view to) {
  std::string text;
  for (const BusId bus : route(platform, from, to).over)
    text += (text.empty() ? "" : " ") + platform.topology()->bus(bus).name;
  return text;
}

std::vector<CpuRank> cpu_ranks(const std::vector<std::size_t>& nodes) {
  std::vector<CpuRank> ranks;
  for (const std::size_t node : nodes) {
    ranks.push_back(
        {{.name = "cpu" + std::to_string(ranks.size()), .kind = "cpu", .host = "box"}, node});
  }
  return ranks;
}

TEST(MachinePlatform, GpusAreTheDevices) {
  const Platform platform = platform_of(two_packages(), cpu_ranks({0})).platform;
  ASSERT_EQ(platform.size(), 2u);
  const Device& gpu = platform.device(DeviceId(0));
  EXPECT_EQ(gpu.name, "gpu0");
  EXPECT_EQ(gpu.kind, "gpu");
  EXPECT_EQ(gpu.threads, 0);
  EXPECT_EQ(gpu.memory_bytes, 7u);
  EXPECT_EQ(gpu.host, "box");
  EXPECT_EQ(gpu.identity.text(), "NVIDIA X");
  EXPECT_EQ(platform.topology()->stores().size(), 3u);
}

// A port, the only card below it and nothing else are one bus, as fast as the slower of them.
TEST(MachinePlatform, ConsecutiveLinksOfTheSameRoutesAreOneBus) {
  const Platform platform = platform_of(two_packages(), {}).platform;
  const Route& near = route(platform, "dram0", "gpu0");
  EXPECT_DOUBLE_EQ(near.gb_per_s, 8);
  EXPECT_EQ(over(platform, "dram0", "gpu0"), "dram0-read pcie-01:00.0-down");
  // Only this message leaves the first card, so one bus stands for all that it goes over.
  EXPECT_EQ(over(platform, "gpu0", "gpu1"), "pcie-01:00.0-up package-0-1 pcie-80:01.0-down");
}

TEST(MachinePlatform, RoutesBetweenPackagesShareTheLinkOfThePackages) {
  const Platform platform = platform_of(two_packages(), {}).platform;
  EXPECT_EQ(over(platform, "dram0", "gpu1"), "dram0-read package-0-1 pcie-80:01.0-down");
  EXPECT_EQ(over(platform, "nvme0n1", "gpu1"),
            "nvme0n1-read dram0-read package-0-1 pcie-80:01.0-down");
  EXPECT_EQ(over(platform, "nvme0n1", "gpu0"), "nvme0n1-read dram0-read pcie-01:00.0-down");
  EXPECT_DOUBLE_EQ(route(platform, "nvme0n1", "gpu1").gb_per_s, kNvmeGbPerS);
  EXPECT_EQ(over(platform, "dram1", "gpu0"), "dram1-read package-1-0 pcie-01:00.0-down");
}

TEST(MachinePlatform, AssumesOnlyValuesThatNobodyReported) {
  const Described described = platform_of(two_packages(), {});
  EXPECT_EQ(
      all_assumed(described),
      (std::vector<std::string>{
          "memory of gpu1: no limit", "latency of a load from memory, and of a message: 0.01 ms",
          "reading the memory of a NUMA node: 100 GB/s",
          "from one processor package to another: 40 GB/s", "latency of a load from a disk: 0.1 ms",
          "reading an NVMe disk: 3 GB/s", "a PCIe link: 15.75 GB/s"}));
  EXPECT_EQ(described.assumed[0].size(), 1u) << "dram0 and its card are reported, not the latency";
}

TEST(MachinePlatform, DirectNvlinksComeBeforeSwitchesAndPcie) {
  Machine machine = two_packages();
  machine.nvlinks = {{0, 1, 25}, {0, 1, 25}};
  Platform platform = platform_of(machine, {}).platform;
  EXPECT_EQ(over(platform, "gpu0", "gpu1"), "nvlink-0-1");
  EXPECT_DOUBLE_EQ(route(platform, "gpu0", "gpu1").gb_per_s, 50);
  EXPECT_EQ(over(platform, "gpu1", "gpu0"), "pcie-80:01.0-up package-1-0 pcie-01:00.0-down");

  machine.nvlinks.clear();
  machine.nvswitch_ports = {{0, 100}, {0, 100}, {1, 100}};
  platform = platform_of(machine, {}).platform;
  EXPECT_DOUBLE_EQ(route(platform, "gpu0", "gpu1").gb_per_s, 100);
  EXPECT_EQ(over(platform, "gpu0", "gpu1"), "nvswitch-1-in")
      << "with one GPU at either end both ports are one bus";
}

TEST(MachinePlatform, RanksOnCoresAreTheDevicesWithoutGpus) {
  Machine machine = two_packages();
  machine.gpus.clear();
  const auto nodes = nodes_of_cores(machine, {{0, 1}, {2}, {}, {9}});
  EXPECT_EQ(nodes, (std::vector<std::size_t>{0, 1, 0, 0}));
  const Platform platform = platform_of(machine, cpu_ranks({0, 1})).platform;
  ASSERT_EQ(platform.size(), 2u);
  EXPECT_EQ(over(platform, "dram0", "cpu0"), "dram0-read");
  EXPECT_EQ(over(platform, "dram0", "cpu1"), "dram0-read package-0-1");
  EXPECT_EQ(over(platform, "cpu1", "cpu0"), "dram1-read package-1-0");
  EXPECT_EQ(over(platform, "nvme0n1", "cpu0"), "nvme0n1-read");
  EXPECT_DOUBLE_EQ(route(platform, "dram0", "cpu0").gb_per_s, kCopyGbPerS);
  EXPECT_DOUBLE_EQ(platform.topology()->buses()[0].gb_per_s, 50);
}

TEST(MachinePlatform, RanksTakeConsecutiveCores) {
  const Machine machine = two_packages();
  EXPECT_EQ(cores_of_ranks(machine, "box.xml", 2, 2),
            (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
  try {
    cores_of_ranks(machine, "box.xml", 5, 1);
    FAIL() << "five ranks on four cores";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "box.xml: the machine has no GPU that can compute, and 4 cores, fewer than 5 ranks "
        "of 1 threads need: use fewer");
  }
}

TEST(MachinePlatform, RefusesAMachineWithoutDevices) {
  Machine machine = two_packages();
  machine.gpus.clear();
  EXPECT_THROW(platform_of(machine, {}), InputError);
}

}  // namespace
}  // namespace hios::discovery
