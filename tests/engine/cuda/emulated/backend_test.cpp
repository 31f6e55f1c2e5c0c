// The CUDA backend's memory on an emulated GPU: parameters where it shows them, and reads that
// displace all else from the cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/cuda/backend.h"
#include "engine/cuda/device/nvml.h"
#include "support/emulated_cuda/runtime/device.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/expect_error.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

TEST(EmulatedBackend, ComputesWithTheParametersThatItShows) {
  const auto one = test::make_operation("convolved", {1, 8, 6, 6}, {},
                                        [](ModelBuilder& b, std::span<const TensorId> x) {
                                          b.conv("conv", x[0], Conv{8, {3, 3}, {1, 1}, {1, 1}});
                                        });
  const std::size_t values = 8 * 6 * 6;
  const auto backend = cuda::make_backend({});
  const auto input = backend->allocate(values * sizeof(float), "a test");
  const auto output = backend->allocate(values * sizeof(float), "a test");
  const std::vector<float> ones(values, 1.0f);
  backend->write(input->data(), ones.data(), values * sizeof(float));
  SeededSource source(1);
  const std::byte* const inputs[] = {input->data()};
  const auto op = backend->bind(one.operation(), inputs, output->data(), {}, source);
  const auto largest = [&] {
    op->run();
    backend->synchronize();
    std::vector<float> result(values);
    backend->read(result.data(), output->data(), values * sizeof(float));
    for (float& value : result) value = std::abs(value);
    return std::ranges::max(result);
  };
  EXPECT_GT(largest(), 0);
  ASSERT_TRUE(backend->shows_parameters());
  Bytes shown = 0;
  for (const std::span<std::byte> memory : backend->parameter_memory(one.operation(), source)) {
    const std::vector<std::byte> zeros(memory.size());
    backend->write(memory.data(), zeros.data(), zeros.size());
    shown += memory.size();
  }
  EXPECT_GE(shown, (8 * 8 * 3 * 3 + 8) * sizeof(float));
  EXPECT_EQ(largest(), 0);
  EXPECT_EQ(backend->unsupported_in_place(), std::nullopt) << "this GPU maps host memory";
}

/// A library's call that succeeds may leave an error, which the runtime returns when it is
/// asked for the last one.
TEST(EmulatedBackend, DoesNotBlameItsKernelsForErrorsOfOthers) {
  const auto one = test::make_operation("doubled", {1, 4, 5, 5}, {4, 4},
                                        [](ModelBuilder& b, std::span<const TensorId> x) {
                                          b.sum("sum", {x[0], x[1]});
                                        });
  const auto backend = cuda::make_backend({});
  const auto input = backend->allocate(4 * 5 * 5 * sizeof(float), "a test");
  const auto output = backend->allocate(4 * 5 * 5 * sizeof(float), "a test");
  SeededSource source(1);
  const std::byte* const inputs[] = {input->data(), input->data()};
  const auto op = backend->bind(one.operation(), inputs, output->data(), {}, source);
  ASSERT_EQ(cuda_emulation::answer(cudaErrorInvalidValue), cudaErrorInvalidValue);
  EXPECT_NO_THROW(op->run());
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue) << "it is not ours to take";
  backend->synchronize();
}

#if defined(__SANITIZE_ADDRESS__)
/// Tensors have zones after their ends, whoever reads: the host, or a kernel of ours.
TEST(EmulatedBackend, ReadsPastATensorAreFound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the device has a thread
  const auto one = test::make_operation("doubled", {1, 4, 5, 5}, {4, 4},
                                        [](ModelBuilder& b, std::span<const TensorId> x) {
                                          b.sum("sum", {x[0], x[1]});
                                        });
  const Bytes whole = 4 * 5 * 5 * sizeof(float);
  const auto backend = cuda::make_backend({});
  const auto output = backend->allocate(whole, "a test");
  const auto computed_from = [&](Bytes size_bytes) {
    const auto input = backend->allocate(size_bytes, "a test");
    SeededSource source(1);
    const std::byte* const inputs[] = {input->data(), input->data()};
    const auto op = backend->bind(one.operation(), inputs, output->data(), {}, source);
    op->run();
    backend->synchronize();
  };
  computed_from(whole);
  EXPECT_DEATH(computed_from(whole - sizeof(float)), "AddressSanitizer: use-after-poison");
  const volatile std::byte* const end = output->data() + whole;
  EXPECT_DEATH((void)*end, "AddressSanitizer: use-after-poison");
}
#endif

TEST(EmulatedBackend, RefusesGpusThatItCannotUse) {
  const cuda_emulation::Settings before = cuda_emulation::settings();
  cuda_emulation::settings().capability = 7;
  test::expect_error([] { cuda::make_backend({}); },
                     {"Emulated GPU has compute capability 7.0, this build starts at 8.0"});
  cuda_emulation::settings() = before;
  cuda_emulation::settings().busy = true;
  test::expect_error([] { cuda::make_backend({}); },
                     {"the GPU cannot be used: the device is busy (cudaErrorDevicesUnavailable)"});
  cuda_emulation::settings() = before;
  cuda_emulation::settings().driver = 12040;
  test::expect_error([] { cuda::make_backend({}); },
                     {"the NVIDIA driver here knows CUDA 12.4", "needs 13.0"});
  cuda_emulation::settings().driver = 0;
  test::expect_error([] { cuda::make_backend({}); }, {"no NVIDIA driver is installed here"});
  EXPECT_TRUE(cuda::visible_devices().empty());
  cuda_emulation::settings() = before;
  EXPECT_NO_THROW(cuda::make_backend({})) << "later, and in the same process";
}

TEST(EmulatedBackend, TellsWhatNvmlSaysOfItsGpu) {
  const Json readings = cuda::nvml_readings("0000:3b:00.0", HIOS_FAKE_NVML);
  EXPECT_EQ(readings, Json({{"driver", "580.65.06"},
                            {"sm_mhz", 1755},
                            {"sm_max_mhz", 1980},
                            {"memory_mhz", 2619},
                            {"memory_max_mhz", 2619},
                            {"temperature_c", 41},
                            {"power_mw", 350'000},
                            {"throttled_by", {"power_cap", "software_thermal"}}}));
  const Json fewer = cuda::nvml_readings("0001:3c:00.0", HIOS_FAKE_NVML);
  EXPECT_FALSE(fewer.contains("power_mw")) << fewer;
  EXPECT_EQ(fewer.at("sm_max_mhz"), 1980);
  const Json none = {{"unavailable", "NVML does not know this GPU"}};
  EXPECT_EQ(cuda::nvml_readings("0000:3d:00.0", HIOS_FAKE_NVML), none);
}

TEST(EmulatedBackend, NamesTheMemoryThatItCannotHave) {
  const auto backend = cuda::make_backend({});
  const cuda_emulation::Settings before = cuda_emulation::settings();
  cuda_emulation::settings().pinned = false;
  test::expect_error<RunError>(
      [&] { backend->accelerator()->make_pinned(1000, "a tensor for rank 1"); },
      {"no pinned host memory for a tensor for rank 1: 1000 bytes asked", "ulimit -l"});
  cuda_emulation::settings() = before;
  EXPECT_NO_THROW(backend->accelerator()->make_pinned(1000, "a tensor for rank 1"));
}

TEST(EmulatedBackend, FlushesItsCacheByReadingNoMoreThanAStretch) {
  constexpr Bytes kBytes = 100'000;
  const auto backend = cuda::make_backend({});
  const auto stretch = backend->allocate(kBytes, "a test");
  const std::vector<std::byte> before(kBytes, std::byte{7});
  backend->write(stretch->data(), before.data(), kBytes);
  const auto flush = backend->bind_cache_flush({stretch->data(), kBytes}, {});
  for (const Bytes size_bytes : {Bytes{0}, Bytes{1000}, 10 * kBytes}) {
    flush->set_size(size_bytes);
    flush->run();
    backend->synchronize();
  }
  std::vector<std::byte> after(kBytes);
  backend->read(after.data(), stretch->data(), kBytes);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace hios
