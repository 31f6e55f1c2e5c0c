#include "hios/platform/device_identity.h"

#include <gtest/gtest.h>

namespace hios {
namespace {

constexpr const char* kH200 = "NVIDIA H200, CUDA 13.0, cuDNN 9.19.0";

TEST(GpuText, SaysGpuAndLibraries) {
  EXPECT_EQ(gpu_text({{"gpu", "NVIDIA H200"}, {"cuda", "13.0"}, {"library", "cuDNN 9.19.0"}}),
            kH200);
  EXPECT_EQ(gpu_text({{"gpu", "NVIDIA H200"}}), "NVIDIA H200");
  EXPECT_EQ(gpu_text({{"library", "oneDNN 2.6.3"}, {"isa", "AVX-512"}}), "") << "cores";
  EXPECT_EQ(gpu_text(Json()), "") << "nothing is said";
  EXPECT_EQ(gpu_text({{"gpu", 7}}), "") << "a file may hold anything there";
}

TEST(GpuText, IsMetWhereTheNameStopsBeforeAComma) {
  EXPECT_TRUE(gpu_meets(kH200, kH200));
  EXPECT_TRUE(gpu_meets("NVIDIA H200", kH200));
  EXPECT_TRUE(gpu_meets("NVIDIA H200, CUDA 13.0", kH200));
  EXPECT_TRUE(gpu_meets("", kH200));
  EXPECT_TRUE(gpu_meets("", ""));
  EXPECT_FALSE(gpu_meets("NVIDIA H20", kH200)) << "another GPU";
  EXPECT_FALSE(gpu_meets("NVIDIA H200, CUDA 13", kH200));
  EXPECT_FALSE(gpu_meets(kH200, "NVIDIA H200")) << "more was named than is known";
  EXPECT_FALSE(gpu_meets(kH200, ""));
}

}  // namespace
}  // namespace hios
