// The ways between GPUs, with a library of the test's own in place of NVML.
#include "engine/discovery/gpu_links.h"

#include <gtest/gtest.h>

namespace hios::discovery {
namespace {

using Links = std::vector<std::pair<std::string, bool>>;

TEST(GpuLinks, AreThoseThatTheDriverReports) {
  EXPECT_EQ(nvlinks_of("3b:00.0", HIOS_FAKE_NVML),
            (Links{{"0001:3c:00.0", false}, {"0001:c1:00.0", true}}));
  EXPECT_EQ(nvlinks_of("3c:00.0", HIOS_FAKE_NVML), Links());
  EXPECT_EQ(nvlinks_of("3b:00.0", "libhios-is-not-there.so"), Links());
}

TEST(GpuLinks, NotationsOfAnAddressAreOne) {
  EXPECT_EQ(short_pci_address("00000000:3B:00.0"), "3b:00.0");
  EXPECT_EQ(short_pci_address("0001:3c:00.0"), "0001:3c:00.0");
  EXPECT_EQ(short_pci_address("no address"), "");
}

TEST(GpuLinks, HaveTheWordsOfNvidiaSmi) {
  const GpuPlace a{"n1", "3b:00.0", 0, {{"3c:00.0", false}, {"3c:00.0", false}}};
  const GpuPlace b{"n1", "3c:00.0", 1, {}}, none{"n1"};
  EXPECT_EQ(link_between(a, b), "NV2");
  EXPECT_EQ(link_between(a, a), "same");
  EXPECT_EQ(link_between(a, none), "");
  EXPECT_EQ(link_between(a, {"n2", "3c:00.0"}), "net");
  EXPECT_EQ(link_between(b, {"n1", "3d:00.0", 1}), "NODE");
  EXPECT_EQ(link_between(b, {"n1", "3d:00.0", 0}), "SYS");
  EXPECT_EQ(link_between(b, {"n1", "3d:00.0"}), "PCIe");
  const GpuPlace switched{"n1", "3d:00.0", 0, {{"c1:00.0", true}, {"c2:00.0", true}}};
  EXPECT_EQ(link_between(switched, {"n1", "3e:00.0", 1, {{"c1:00.0", true}}}), "NV1");
}

}  // namespace
}  // namespace hios::discovery
