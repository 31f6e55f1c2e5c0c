// The CUDA backend's memory on an emulated GPU: parameters where it shows them, and reads that
// displace all else from the cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "engine/cuda/backend.h"
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
