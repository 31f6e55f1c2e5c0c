// Facts of the driver about GPUs, added to a machine.

#include "hios/discovery/nvidia.h"

#include <gtest/gtest.h>

namespace hios::discovery {
namespace {

Machine two_cards() {
  Machine machine;
  machine.nodes = {{.memory_bytes = 1}};
  machine.links = {{.address = "01:00.0", .gb_per_s = 16}, {.address = "02:00.0"}};
  machine.gpus = {{.model = "reported by hwloc", .link = 0}, {.model = "", .link = 1}};
  return machine;
}

TEST(Nvidia, ReportsWhatIsMissing) {
  Machine machine = two_cards();
  add_nvidia(machine,
             {{.address = "02:00.0", .model = "X", .memory_bytes = 8, .pcie_gb_per_s = 4},
              {.address = "01:00.0", .model = "Y", .memory_bytes = 9, .pcie_gb_per_s = 4}});
  EXPECT_EQ(machine.gpus[0].model, "reported by hwloc");
  EXPECT_EQ(machine.gpus[0].memory_bytes, 9u);
  EXPECT_EQ(machine.links[0].gb_per_s, 16);
  EXPECT_EQ(machine.gpus[1].model, "X");
  EXPECT_EQ(machine.links[1].gb_per_s, 4);
  EXPECT_EQ(machine.gpus.size(), 2u);
}

// In a container without /sys.
TEST(Nvidia, AddsGpusThatTheMachineDoesNotShow) {
  Machine machine;
  machine.nodes = {{.memory_bytes = 1}};
  add_nvidia(machine, {{.address = "17:00.0", .model = "X", .pcie_gb_per_s = 63}});
  ASSERT_EQ(machine.gpus.size(), 1u);
  EXPECT_EQ(machine.links[machine.gpus[0].link].address, "17:00.0");
  EXPECT_EQ(machine.links[machine.gpus[0].link].gb_per_s, 63);
}

TEST(Nvidia, LinksLeadToGpusAndSwitches) {
  const std::vector<NvidiaGpu> gpus = {
      {.address = "01:00.0",
       .links = {{"02:00.0", false, 25}, {"c1:00.0", true, 25}, {"elsewhere", false, 25}}},
      {.address = "02:00.0", .links = {{"01:00.0", false, 25}}}};
  Machine machine = two_cards();
  add_nvidia(machine, gpus);
  ASSERT_EQ(machine.nvlinks.size(), 2u);
  EXPECT_EQ(machine.nvlinks[0].from, 0u);
  EXPECT_EQ(machine.nvlinks[0].to, 1u);
  ASSERT_EQ(machine.nvswitch_ports.size(), 1u);
  EXPECT_EQ(machine.nvswitch_ports[0].gpu, 0u);

  Machine known = two_cards();
  known.nvlinks = {{0, 1, 100}};
  add_nvidia(known, gpus);
  EXPECT_EQ(known.nvlinks.size(), 1u) << "hwloc reported them";
}

TEST(Nvidia, BandwidthsOfLinks) {
  EXPECT_NEAR(pcie_gb_per_s(3, 16).value(), 15.75, 0.01);
  EXPECT_NEAR(pcie_gb_per_s(4, 8).value(), 15.75, 0.01);
  EXPECT_EQ(pcie_gb_per_s(1, 1), 0.25);
  EXPECT_EQ(pcie_gb_per_s(0, 16), std::nullopt);
  EXPECT_EQ(pcie_gb_per_s(7, 16), std::nullopt);
  EXPECT_EQ(pcie_gb_per_s(4, 0), std::nullopt);
  EXPECT_EQ(nvlink_gb_per_s(1), 20);
  EXPECT_EQ(nvlink_gb_per_s(6), 25);
  EXPECT_EQ(nvlink_gb_per_s(7), 50);
  EXPECT_EQ(nvlink_gb_per_s(0), std::nullopt);
  EXPECT_EQ(nvlink_gb_per_s(8), std::nullopt);
}

TEST(Nvidia, AddressesLeaveOutTheFirstDomain) {
  EXPECT_EQ(pci_address(0, 0x3b, 0, 0), "3b:00.0");
  EXPECT_EQ(pci_address(1, 0x3b, 0x1f, 7), "0001:3b:1f.7");
}

}  // namespace
}  // namespace hios::discovery
