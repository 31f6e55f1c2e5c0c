// Recorded machines, as XML of hwloc: what must be found, and which routes share a bus.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/discovery/hwloc_machine.h"
#include "hios/base/error.h"
#include "hios/base/files/file_io.h"
#include "hios/base/numbers/random.h"
#include "hios/discovery/machine_platform.h"
#include "hios/platform/platform_json.h"
#include "support/message.h"
#include "support/schema.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace hios::discovery {
namespace {

#ifdef __SANITIZE_ADDRESS__
using IgnoredLeaks = __lsan::ScopedDisabler;
#else
struct IgnoredLeaks {};
#endif

class RecordedMachines : public testing::Test {
  // hwloc itself loses memory, of this machine's devices and of texts that it refuses.
  [[maybe_unused]] IgnoredLeaks ignored_;
};

std::string xml_of(const std::string& name) {
  return read_text(std::string(HIOS_SOURCE_DIR "/tests/data/machines/") + name + ".xml", {});
}

Machine machine_of(const std::string& name) { return machine_of_xml(xml_of(name), name); }

/// A recorded machine's platform, asked by names.
class Recorded {
 public:
  explicit Recorded(const std::string& name, const std::vector<CpuRank>& ranks = {})
      : machine(machine_of(name)), described(platform_of(machine, ranks)) {
    const Json json = to_json(described.platform);
    test::expect_meets_schema(json);
    EXPECT_EQ(to_json(platform_from_json(JsonView(json, "written"))), json);
  }

  const Route& route(std::string_view from, std::string_view to) const {
    const auto store = topology().find_store(from);
    const Holder holder = store ? Holder(*store) : Holder(*described.platform.find(from));
    return topology().route(topology().find(holder, *described.platform.find(to)).value());
  }
  std::set<std::string> over(std::string_view from, std::string_view to) const {
    std::set<std::string> names;
    for (const BusId bus : route(from, to).over) names.insert(topology().bus(bus).name);
    return names;
  }
  /// Returns the narrowest bus that both routes go over; 0: they share none.
  double shared(std::string_view from_a, std::string_view to_a, std::string_view from_b,
                std::string_view to_b) const {
    double narrowest = 0;
    for (const BusId bus : route(from_a, to_a).over) {
      const auto& others = route(from_b, to_b).over;
      if (std::ranges::find(others, bus) == others.end()) continue;
      const double gb_per_s = topology().bus(bus).gb_per_s;
      narrowest = narrowest == 0 ? gb_per_s : std::min(narrowest, gb_per_s);
    }
    return narrowest;
  }
  double rate(std::string_view from, std::string_view to) const { return route(from, to).gb_per_s; }
  const Topology& topology() const { return *described.platform.topology(); }
  std::vector<std::string> stores() const {
    std::vector<std::string> names;
    for (const Store& store : topology().stores()) names.push_back(store.name);
    return names;
  }

  Machine machine;
  Described described;
};

using Names = std::vector<std::string>;

// The server of Namkoong et al., "SortingHat", Fig. 8(a): two cards below each of two switches.
TEST_F(RecordedMachines, V100Server) {
  const Recorded server("v100-server");
  ASSERT_EQ(server.described.platform.size(), 4u);
  const Device& gpu = server.described.platform.device(DeviceId(0));
  EXPECT_EQ(gpu.identity.text(), "Tesla V100-DGXS-32GB");
  EXPECT_EQ(gpu.memory_bytes, Bytes{33292288} * 1024);
  EXPECT_EQ(server.stores(), (Names{"dram", "sda"})) << "and no removable medium";
  ASSERT_EQ(server.machine.adapters.size(), 1u);
  EXPECT_EQ(server.machine.adapters[0].name, "enp3s0f0");

  EXPECT_NEAR(server.rate("dram", "gpu0"), 15.75, 0.01);
  EXPECT_NEAR(server.shared("dram", "gpu0", "dram", "gpu1"), 15.75, 0.01) << "one switch";
  EXPECT_NEAR(server.shared("dram", "gpu2", "dram", "gpu3"), 15.75, 0.01) << "the other";
  EXPECT_EQ(server.shared("dram", "gpu0", "dram", "gpu2"), kMemoryGbPerS) << "memory alone";
  EXPECT_EQ(server.rate("gpu0", "gpu3"), 50) << "two NVLinks";
  EXPECT_EQ(server.rate("gpu1", "gpu2"), 50);
  EXPECT_EQ(server.rate("gpu0", "gpu1"), 25);
  EXPECT_EQ(server.shared("gpu0", "gpu1", "gpu1", "gpu0"), 0) << "each direction is its own";
  EXPECT_EQ(server.shared("gpu0", "gpu1", "dram", "gpu1"), 0) << "NVLinks use no PCIe";
  EXPECT_EQ(server.rate("sda", "gpu0"), kDiskGbPerS);
  EXPECT_EQ(server.shared("sda", "gpu0", "sda", "gpu3"), kDiskGbPerS);
}

// Fig. 8(c) there: three cards, NVLinks between two of them, peers by PCIe otherwise.
TEST_F(RecordedMachines, A6000Workstation) {
  const Recorded workstation("a6000-workstation");
  ASSERT_EQ(workstation.described.platform.size(), 3u);
  EXPECT_EQ(workstation.stores(), (Names{"dram", "nvme0n1"}));
  EXPECT_NEAR(workstation.rate("dram", "gpu0"), 31.5, 0.01);
  for (const char* other : {"gpu1", "gpu2"})
    EXPECT_EQ(workstation.shared("dram", "gpu0", "dram", other), kMemoryGbPerS);
  EXPECT_NEAR(workstation.rate("gpu1", "gpu2"), 56.2, 0.1);
  EXPECT_EQ(workstation.over("gpu1", "gpu2"), (std::set<std::string>{"nvlink-1-2"}));
  EXPECT_NEAR(workstation.rate("gpu0", "gpu2"), 31.5, 0.01) << "by PCIe";
  EXPECT_NEAR(workstation.shared("gpu0", "gpu2", "dram", "gpu2"), 31.5, 0.01);
  EXPECT_NEAR(workstation.shared("gpu0", "gpu2", "gpu0", "gpu1"), 31.5, 0.01) << "on the way up";
  EXPECT_EQ(workstation.shared("gpu0", "gpu2", "dram", "gpu0"), 0) << "up and down";
  EXPECT_EQ(workstation.rate("nvme0n1", "gpu0"), kNvmeGbPerS);
}

// A node like AWS's p4d.24xlarge: four PCIe switches, which two cards, a disk and an adapter share.
TEST_F(RecordedMachines, NvswitchNode) {
  const Recorded node("nvswitch-node");
  ASSERT_EQ(node.described.platform.size(), 8u);
  EXPECT_EQ(node.stores(), (Names{"dram0", "dram1", "nvme0n1", "nvme1n1", "nvme2n1", "nvme3n1"}));
  EXPECT_EQ(node.machine.nvswitch_ports.size(), 48u);
  EXPECT_EQ(node.machine.adapters.size(), 4u);

  EXPECT_NEAR(node.rate("dram0", "gpu0"), 31.5, 0.01);
  EXPECT_NEAR(node.shared("dram0", "gpu0", "dram0", "gpu1"), 31.5, 0.01) << "one switch";
  EXPECT_EQ(node.shared("dram0", "gpu0", "dram0", "gpu2"), kMemoryGbPerS) << "two switches";
  EXPECT_EQ(node.shared("dram0", "gpu4", "dram0", "gpu6"), kPackageGbPerS) << "the other package";
  EXPECT_EQ(node.shared("dram0", "gpu0", "dram1", "gpu4"), 0) << "each package its own";
  EXPECT_EQ(node.rate("gpu0", "gpu7"), 300) << "six switches";
  EXPECT_EQ(node.over("gpu0", "gpu7"), (std::set<std::string>{"nvswitch-0-out", "nvswitch-7-in"}));
  EXPECT_EQ(node.shared("gpu0", "gpu7", "gpu0", "gpu1"), 300) << "both leave one card";
  EXPECT_EQ(node.shared("gpu0", "gpu7", "gpu1", "gpu6"), 0);
  EXPECT_EQ(node.rate("nvme0n1", "gpu0"), kNvmeGbPerS);
  EXPECT_NEAR(node.shared("nvme0n1", "gpu0", "dram0", "gpu1"), 31.5, 0.01)
      << "down to the switch again";
}

TEST_F(RecordedMachines, Laptop) {
  const Machine machine = machine_of("laptop");
  EXPECT_EQ(machine.host, "laptop");
  EXPECT_TRUE(machine.gpus.empty());
  EXPECT_EQ(machine.other_gpus, (Names{"TigerLake GT2"}));
  ASSERT_EQ(machine.nodes.size(), 1u);
  EXPECT_EQ(machine.nodes[0].memory_bytes, Bytes{16} << 30);
  EXPECT_EQ(machine.nodes[0].cores, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));

  const Recorded laptop("laptop", {{{.name = "cpu0", .kind = "cpu", .host = "laptop"}, 0},
                                   {{.name = "cpu1", .kind = "cpu", .host = "laptop"}, 0}});
  EXPECT_EQ(laptop.stores(), (Names{"dram", "nvme0n1"}));
  EXPECT_EQ(laptop.rate("dram", "cpu0"), kCopyGbPerS);
  EXPECT_EQ(laptop.shared("dram", "cpu0", "dram", "cpu1"), kMemoryGbPerS);
  EXPECT_EQ(laptop.shared("nvme0n1", "cpu0", "nvme0n1", "cpu1"), kNvmeGbPerS);
  EXPECT_EQ(laptop.shared("nvme0n1", "cpu0", "dram", "cpu0"), 0);
}

TEST_F(RecordedMachines, OtherTextsAreNoMachine) {
  const std::string xml = xml_of("laptop");
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("<html></html>"),
        std::string("<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n</topology>\n"),
        xml.substr(0, xml.size() / 2), xml.substr(0, 400)}) {
    test::expect_message(test::message_of([&] { machine_of_xml(text, "m.xml"); }), "m.xml: ");
  }
}

// hwloc trusts its own exports: these texts would end the process.
TEST_F(RecordedMachines, TextsOnWhichHwlocCrashesAreNoMachine) {
  std::string xml = xml_of("laptop");
  const std::string attribute = " complete_cpuset=";
  for (std::size_t at = xml.find(attribute); at != std::string::npos; at = xml.find(attribute))
    xml.erase(at, xml.find('"', at + attribute.size() + 1) + 1 - at);
  test::expect_message(test::message_of([&] { machine_of_xml(xml, "m.xml"); }),
                       "m.xml: no machine that hwloc can read");
}

/// Returns the text with all of one replaced by another.
std::string replaced(std::string text, const std::string& old, const std::string& by) {
  EXPECT_NE(text.find(old), std::string::npos) << old;
  for (std::size_t at = text.find(old); at != std::string::npos;
       at = text.find(old, at + by.size()))
    text.replace(at, old.size(), by);
  return text;
}

TEST_F(RecordedMachines, ASetOfAllCoresIsNoMachine) {
  const std::string xml = replaced(xml_of("laptop"), "cpuset=\"0x000000ff\"", "cpuset=\"0xf...f\"");
  test::expect_message(test::message_of([&] { machine_of_xml(xml, "m.xml"); }), "m.xml: ");
}

TEST_F(RecordedMachines, NodesWithoutMemoryAreNoStores) {
  const std::string xml = xml_of("nvswitch-node");
  const std::size_t at = xml.rfind("local_memory=\"") + std::string_view("local_memory=\"").size();
  const Machine machine =
      machine_of_xml(std::string(xml).replace(at, xml.find('"', at) - at, "0"), "m.xml");
  ASSERT_EQ(machine.nodes.size(), 1u);
  EXPECT_EQ(machine.nodes[0].cores.size(), 48u) << "of both";
  for (const PciLink& link : machine.links) EXPECT_EQ(link.node, 0u);
}

/// Expects that the platform can be written, and read again. A machine that cannot be one is not.
void expect_readable_platform(const Machine& machine) {
  const Json written =
      to_json(platform_of(machine, {{{.name = "cpu0", .kind = "cpu", .host = ""}, 0}}).platform);
  try {
    EXPECT_EQ(to_json(platform_from_json(JsonView(written, "written"))), written);
  } catch (const InputError& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST_F(RecordedMachines, SpeedsThatNoPlatformHasAreNotReported) {
  const std::string xml = xml_of("v100-server");
  const std::string speed = "pci_link_speed=\"15.753846\"";
  for (const char* odd : {"inf", "1e30", "nan", "-1", "1e-30"}) {
    SCOPED_TRACE(odd);
    const Machine machine = machine_of_xml(
        replaced(xml, speed, "pci_link_speed=\"" + std::string(odd) + "\""), "m.xml");
    for (const Gpu& gpu : machine.gpus) EXPECT_EQ(machine.links[gpu.link].gb_per_s, std::nullopt);
    expect_readable_platform(machine);
  }
}

TEST_F(RecordedMachines, ChangedTextsAreReadOrRefused) {
  const std::string xml = xml_of("v100-server");
  Random random(29);
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed 29");
    std::string changed = xml;
    for (int change = 0; change < 3; ++change)
      changed[random.below(changed.size())] = xml[random.below(xml.size())];
    try {
      const Machine machine = machine_of_xml(changed, "m.xml");
      EXPECT_FALSE(machine.nodes.empty());
      expect_readable_platform(machine);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()), "");
    }
  }
}

// hwloc must not look at the machine on which the test runs instead.
TEST_F(RecordedMachines, ThisMachineIsFoundApart) {
  const Machine here = this_machine();
  ASSERT_FALSE(here.nodes.empty());
  EXPECT_FALSE(here.nodes[0].cores.empty());
}

}  // namespace
}  // namespace hios::discovery
