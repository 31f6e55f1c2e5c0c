// The GPU as a transport uses it: copies, events and refusals.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/cuda/backend.h"
#include "support/expect_error.h"

namespace hios {
namespace {

using mpi::Queue;

class GpuDevice : public testing::Test {
 protected:
  std::vector<std::byte> pattern(std::size_t count) const {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
    return bytes;
  }

  std::unique_ptr<Backend> backend = cuda::make_backend({});
  mpi::Accelerator& device = *backend->accelerator();
};

TEST_F(GpuDevice, HasAnIdentityThatDoesNotChange) {
  EXPECT_EQ(device.identity().substr(0, 4), "GPU-");
  EXPECT_EQ(cuda::make_backend({})->accelerator()->identity(), device.identity());
}

TEST_F(GpuDevice, CopiesInOrderFromQueueToQueue) {
  constexpr std::size_t kBytes = (1 << 22) + 12;
  const auto pinned = device.make_pinned(kBytes, "a test"), back = device.make_pinned(kBytes, "b");
  const auto first = device.make_memory(kBytes, "a test"), second = device.make_memory(kBytes, "c");
  const auto bytes = pattern(kBytes);
  std::copy(bytes.begin(), bytes.end(), pinned->data());
  const auto arrived = device.make_event(false), moved = device.make_event(true),
             ended = device.make_event(false);
  EXPECT_TRUE(ended->done()) << "never recorded";
  const Queue in = device.in_queue(Rank(1));
  EXPECT_EQ(device.in_queue(Rank(1)), in);
  EXPECT_NE(device.in_queue(Rank(2)), in);
  for (int i = 0; i < 3; ++i) {
    device.copy(first->data(), pinned->data(), kBytes, in);
    device.record(*arrived, in);
    device.wait(*arrived, Queue::kWork);
    device.copy(second->data(), first->data(), kBytes, Queue::kWork);
    device.record(*moved, Queue::kWork);
    device.wait(*moved, Queue::kOut);
    device.copy(back->data(), second->data(), kBytes, Queue::kOut);
    device.record(*ended, Queue::kOut);
    while (!ended->done()) {
    }
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), back->data()));
    std::fill_n(back->data(), kBytes, std::byte{0});
  }
}

TEST_F(GpuDevice, FillsInOrderWithAQueueOfLoads) {
  const auto pinned = device.make_pinned(1000, "a test");
  const auto memory = device.make_memory(1000, "a test");
  std::fill_n(pinned->data(), 1000, std::byte{1});
  const Queue load = device.load_queue(0);
  EXPECT_EQ(device.load_queue(0), load);
  EXPECT_NE(device.load_queue(1), load);
  EXPECT_NE(device.in_queue(Rank(0)), load);
  device.copy(memory->data(), pinned->data(), 1000, load);
  device.fill(memory->data() + 500, std::byte{0xff}, 500, load);
  device.synchronize();
  std::vector<std::byte> back(1000);
  device.read(back.data(), memory->data(), back.size());
  EXPECT_EQ(std::count(back.begin(), back.end(), std::byte{1}), 500);
  EXPECT_EQ(back[500], std::byte{0xff});
}

TEST_F(GpuDevice, ReadsWhatItWrote) {
  const auto bytes = pattern(1000);
  const auto memory = device.make_memory(1000, "a test");
  device.write(memory->data(), bytes.data(), bytes.size());
  std::vector<std::byte> back(1000);
  device.read(back.data(), memory->data(), back.size());
  EXPECT_EQ(back, bytes);
}

TEST_F(GpuDevice, ExportsAnAddressInsideABlockAsOneLine) {
  const auto memory = device.make_memory(5000, "a test");
  const std::string exported = device.export_memory(memory->data() + 4096);
  EXPECT_EQ(exported.find('\n'), std::string::npos);
  EXPECT_EQ(exported.substr(exported.find('+')), "+4096");
  const auto event = device.make_event(true);
  EXPECT_EQ(device.export_event(*event).size(), 128u);
  test::expect_error<RunError>([&] { device.import_memory("nonsense"); }, {"nonsense"});
  test::expect_error<RunError>([&] { device.import_event("00"); }, {"64 bytes"});
}

TEST_F(GpuDevice, NamesTheMissingMemory) {
  test::expect_error<RunError>([&] { backend->allocate(Bytes{1} << 50, "an enormous tensor"); },
                               {"an enormous tensor", "asked", "free", "missing"});
  EXPECT_NO_THROW(backend->allocate(1 << 20, "a small one"));
}

TEST_F(GpuDevice, DescribesItself) {
  const Json description = backend->describe();
  for (const char* const key : {"library", "gpu", "compute_capability", "cuda", "nvml", "math"}) {
    EXPECT_TRUE(description.contains(key)) << key;
  }
  EXPECT_EQ(backend->kind(), "gpu");
}

TEST(GpuIndex, BeyondTheLastIsRefused) {
  BackendOptions options;
  options.device_index = 100;
  test::expect_error([&] { cuda::make_backend(options); }, {"no GPU 100"});
}

}  // namespace
}  // namespace hios
