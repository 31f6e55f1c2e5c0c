#include "cli/gpu_rule.h"

#include <gtest/gtest.h>

#include "engine/reference/backend.h"

namespace hios::cli {
namespace {

const std::string kH200 = "NVIDIA H200, CUDA 13.0, cuDNN 9.19.0";
const std::string kOlder = "NVIDIA H200, CUDA 12.6, cuDNN 9.5.0";
const std::string kA100 = "NVIDIA A100, CUDA 13.0, cuDNN 9.19.0";

using Identities = std::vector<DeviceIdentity>;

Platform gpus_named(const Identities& names) {
  return Platform::homogeneous(names.size(), "gpu", 0, 1).with_identities(names);
}

std::string refusal(const Identities& gpus, const Identities& named) {
  return refusal_of_gpus(gpus, gpus_named(named), "s.json");
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST(GpuRule, LetsRanksRunThatAreAlikeOrAsTheScheduleSays) {
  EXPECT_EQ(refusal({kH200, kH200}, {"", ""}), "");
  EXPECT_EQ(refusal({kH200, kH200}, {kH200, ""}), "");
  EXPECT_EQ(refusal({kH200, ""}, {"", ""}), "") << "cores beside a GPU";
  EXPECT_EQ(refusal({kH200, kA100}, {kH200, kA100}), "");
  EXPECT_EQ(refusal({kH200, kOlder}, {"NVIDIA H200", "NVIDIA H200"}), "");
  EXPECT_EQ(refusal({"", ""}, {"", ""}), "");
}

TEST(GpuRule, RefusesADifferenceThatTheScheduleDoesNotName) {
  expect_words(refusal({kH200, kA100}, {"", ""}),
               {"s.json: $.devices[0]", "rank 0 has " + kH200, "rank 1 has " + kA100,
                "does not say so", "--platform"});
  expect_words(refusal({kH200, kOlder}, {"", ""}), {"CUDA 13.0", "CUDA 12.6"});
  expect_words(refusal({kH200, "", kA100}, {kH200, "", ""}), {"$.devices[2]", "rank 0 has"});
}

TEST(GpuRule, RefusesAnotherGpuThanTheNamedOne) {
  expect_words(refusal({kH200, kA100}, {kH200, kH200}),
               {"$.devices[1]: made for " + kH200, "rank 1 has " + kA100, "schedule again"});
  expect_words(refusal({kOlder}, {kH200}), {"made for " + kH200, kOlder});
  expect_words(refusal({""}, {kH200}), {"rank 0 has no GPU"});
}

TEST(GpuRule, KnowsWhetherGpusAreTheSame) {
  EXPECT_TRUE(same_gpus({}));
  EXPECT_TRUE(same_gpus({kH200, "", kH200}));
  EXPECT_FALSE(same_gpus({"", kH200, kA100}));
}

TEST(GpuRule, ARankOnCoresHasNone) {
  const auto transport = mpi::make_serial_transport();
  EXPECT_EQ(gather_identities(*transport, *reference::make_backend({})), Identities{""});
}

}  // namespace
}  // namespace hios::cli
