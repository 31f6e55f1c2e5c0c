#include "hios/platform/device_identity.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace hios {
namespace {

const DeviceIdentity kH200 = "NVIDIA H200, CUDA 13.0, cuDNN 9.19.0";

TEST(DeviceIdentity, NamesGpuAndLibraries) {
  const auto of = [](const Json& description) { return DeviceIdentity::of(description).text(); };
  EXPECT_EQ(of({{"gpu", "NVIDIA H200"}, {"cuda", "13.0"}, {"library", "cuDNN 9.19.0"}}),
            kH200.text());
  EXPECT_EQ(of({{"gpu", "NVIDIA H200"}}), "NVIDIA H200");
  EXPECT_EQ(of({{"library", "oneDNN 2.6.3"}, {"isa", "AVX-512"}}), "") << "cores";
  EXPECT_EQ(of(Json()), "") << "nothing is said";
  EXPECT_EQ(of({{"gpu", 7}}), "") << "a file may hold anything there";
}

TEST(DeviceIdentity, MatchesANameThatStopsBeforeAComma) {
  EXPECT_TRUE(kH200.matches(kH200));
  EXPECT_TRUE(kH200.matches("NVIDIA H200"));
  EXPECT_TRUE(kH200.matches("NVIDIA H200, CUDA 13.0"));
  EXPECT_TRUE(kH200.matches(""));
  EXPECT_TRUE(DeviceIdentity().matches(""));
  EXPECT_FALSE(kH200.matches("NVIDIA H20")) << "another GPU";
  EXPECT_FALSE(kH200.matches("NVIDIA H200, CUDA 13"));
  EXPECT_FALSE(DeviceIdentity("NVIDIA H200").matches(kH200)) << "more was named than is known";
  EXPECT_FALSE(DeviceIdentity().matches(kH200));
}

TEST(DeviceIdentity, IsATextInJson) {
  const Json json = kH200;
  EXPECT_EQ(json, kH200.text());
  EXPECT_EQ(json.get<DeviceIdentity>(), kH200);
}

}  // namespace
}  // namespace hios
