// The end of an iteration: the host waits once for the GPU, however many queues it has.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "engine/cuda/backend.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/emulated_cuda/runtime/streams.h"

namespace hios {
namespace {

using cuda_emulation::Order;
using cuda_emulation::synchronizations;

class Synchronize : public testing::TestWithParam<Order> {
 protected:
  Synchronize() { cuda_emulation::settings().order = GetParam(); }
  ~Synchronize() override { cuda_emulation::settings() = before_; }

  void expect_one_wait() {
    const std::size_t waits = synchronizations();
    device.synchronize();
    EXPECT_EQ(synchronizations(), waits + 1);
  }
  /// Returns true if all bytes of pinned memory have this value.
  bool all_are(std::byte value) const {
    return std::all_of(pinned->data(), pinned->data() + kBytes,
                       [&](std::byte byte) { return byte == value; });
  }

  static constexpr std::size_t kBytes = 5000;
  const std::unique_ptr<Backend> backend = cuda::make_backend({});
  mpi::Accelerator& device = *backend->accelerator();
  const std::unique_ptr<mpi::DeviceMemory> pinned = device.make_pinned(kBytes, "a test");
  const std::unique_ptr<mpi::DeviceMemory> memory = device.make_memory(kBytes, "a test");
  const std::unique_ptr<mpi::DeviceEvent> event = device.make_event(false);

 private:
  const cuda_emulation::Settings before_ = cuda_emulation::settings();
};

TEST_P(Synchronize, WaitsOnceForWorkThatTheWorkQueueAwaits) {
  const mpi::Queue in = device.in_queue(Rank(1));
  for (const std::byte value : {std::byte{1}, std::byte{2}}) {
    device.fill(memory->data(), value, kBytes, in);
    device.record(*event, in);
    device.wait(*event, mpi::Queue::kWork);
    device.copy(pinned->data(), memory->data(), kBytes, mpi::Queue::kWork);
    expect_one_wait();
    EXPECT_TRUE(all_are(value));
  }
}

TEST_P(Synchronize, WaitsOnceForWorkThatNobodyAwaits) {
  device.fill(memory->data(), std::byte{1}, kBytes, mpi::Queue::kWork);
  device.record(*event, mpi::Queue::kWork);
  device.wait(*event, mpi::Queue::kOut);
  device.copy(pinned->data(), memory->data(), kBytes, mpi::Queue::kOut);
  expect_one_wait();
  EXPECT_TRUE(all_are(std::byte{1}));
  // The event stands for work before it, and not for what comes after.
  const mpi::Queue in = device.in_queue(Rank(2));
  device.record(*event, in);
  device.fill(memory->data(), std::byte{3}, kBytes, in);
  device.copy(pinned->data(), memory->data(), kBytes, in);
  device.wait(*event, mpi::Queue::kWork);
  expect_one_wait();
  EXPECT_TRUE(all_are(std::byte{3}));
}

INSTANTIATE_TEST_SUITE_P(InEachOrder, Synchronize,
                         testing::Values(Order::kEarly, Order::kLate, Order::kRandom));

}  // namespace
}  // namespace hios
