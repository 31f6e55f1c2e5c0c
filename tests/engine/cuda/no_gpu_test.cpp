// A machine without a GPU, or without the requested one, gets one clear line and exit status 2. On
// a machine that has one, the tests hide it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include "engine/cuda/backend.h"
#include "engine/cuda/device/gpu.h"
#include "engine/cuda/device/nvml.h"
#include "support/expect_error.h"
#include "support/programs/programs.h"

namespace hios {
namespace {

using testing::HasSubstr;

TEST(WithoutAGpu, TheBackendRefusesInOneLine) {
  // There may be no driver, no GPU, or too few of them.
  BackendOptions options;
  options.device_index = 1000;
  test::expect_error([&] { cuda::make_backend(options); }, {"backend cuda: "});
}

TEST(WithoutAGpu, EveryReasonHasItsWordsAndARemedy) {
  const InputError none = cuda::refusal_without_gpu(cudaErrorNoDevice);
  EXPECT_THAT(none.what(), HasSubstr("CUDA_VISIBLE_DEVICES"));
  EXPECT_EQ(none.need(), Need(need::Gpu{"cpu"}));
  EXPECT_THAT(cuda::refusal_without_gpu(cudaErrorDevicesUnavailable).what(),
              HasSubstr("cudaErrorDevicesUnavailable"));
  const InputError index = cuda::refusal_of_index(3, 2);
  EXPECT_THAT(index.what(), HasSubstr("no GPU 3"));
  EXPECT_THAT(index.what(), HasSubstr("sees 2"));
  EXPECT_EQ(index.need(), Need(need::DevicesPerNode{}));
}

TEST(WithoutAGpu, AProgramExitsBeforeAnythingRan) {
  const test::TestFolder folder;
  test::ProcessOptions options;
  options.environment = {{"CUDA_VISIBLE_DEVICES", ""}};
  const auto result = test::run_process({HIOS_CUDA_PROFILE, "--model", "squeezenet", "--backend",
                                         "cuda", "--output", folder.file("profile.json")},
                                        options);
  EXPECT_EQ(result.exit_status, 2) << result.err;
  EXPECT_EQ(test::lines_with(result.err, "backend cuda").size(), 1u) << result.err;
  EXPECT_TRUE(folder.files().empty());
}

TEST(WithoutAGpu, NvmlReportsThatItIsMissing) {
  // No GPU has this address: either the library is missing or it does not know it.
  EXPECT_TRUE(cuda::nvml_readings("ffff:ff:1f.7").contains("unavailable"));
}

TEST(ThrottleReasons, HaveWords) {
  EXPECT_THAT(cuda::throttle_reasons(0), testing::IsEmpty());
  EXPECT_THAT(cuda::throttle_reasons(0x1 | 0x4 | 0x40),
              testing::ElementsAre("idle", "power_cap", "hardware_thermal"));
  EXPECT_THAT(cuda::throttle_reasons(0x4 | (1ull << 40)),
              testing::ElementsAre("power_cap", "other"));
}

}  // namespace
}  // namespace hios
