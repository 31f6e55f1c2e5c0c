// GPUs by NVML, with a library of the test's own (tests/support/fakes/nvml.cpp).

#include "engine/discovery/nvml_gpus.h"

#include <gtest/gtest.h>

namespace hios::discovery {
namespace {

TEST(NvmlGpus, AMissingLibraryHasNone) {
  EXPECT_TRUE(nvml_gpus("libhios-is-not-there.so").empty());
}

TEST(NvmlGpus, ReportsModelsMemoryAndLinks) {
  const std::vector<NvidiaGpu> gpus = nvml_gpus(HIOS_FAKE_NVML);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].address, "3b:00.0");
  EXPECT_EQ(gpus[1].address, "0001:3c:00.0");
  EXPECT_EQ(gpus[0].model, "NVIDIA Test");
  EXPECT_EQ(gpus[0].memory_bytes, Bytes{80} << 30);
  EXPECT_NEAR(gpus[0].pcie_gb_per_s.value(), 31.5, 0.01);
  EXPECT_EQ(gpus[1].pcie_gb_per_s, std::nullopt) << "the driver does not report it";
  ASSERT_EQ(gpus[0].links.size(), 2u) << "the others are not active, or of no known version";
  EXPECT_EQ(gpus[0].links[0].peer, "0001:3c:00.0");
  EXPECT_FALSE(gpus[0].links[0].to_switch);
  EXPECT_EQ(gpus[0].links[0].gb_per_s, 25);
  EXPECT_TRUE(gpus[0].links[1].to_switch);
  EXPECT_TRUE(gpus[1].links.empty());
}

}  // namespace
}  // namespace hios::discovery
