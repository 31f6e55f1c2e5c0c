// A device channel's calls allocate nothing and never wait for a whole device. This program counts
// every operator new of the process while channels run, so it is separate.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <memory>
#include <vector>

#include "support/programs/count_allocations.h"
#include "support/transports/device_ranks.h"

namespace hios::test {
namespace {

constexpr std::size_t kRanks = 3;
constexpr std::array kSizes = {Bytes{0}, Bytes{100}, Bytes{700000}};

/// All ranks send each size to all others, repeatedly.
void run_iterations(mpi::Channel& channel, std::size_t messages, int iterations) {
  for (int iteration = 0; iteration < iterations; ++iteration) {
    channel.start_receives();
    for (std::size_t i = 0; i < messages; ++i) {
      channel.start_send(i);
      channel.poll();
    }
    for (std::size_t i = 0; i < messages; ++i) channel.await_receive(i);
    for (std::size_t i = 0; i < messages; i += 2) channel.await_send(i);
    channel.finish();
  }
}

/// Returns the allocations of all ranks together in three iterations.
std::size_t allocations_by(const RouteCase& routes) {
  std::barrier together(static_cast<std::ptrdiff_t>(kRanks));
  allocations = 0;
  run_device_ranks(kRanks, {routes}, [&](mpi::Transport& transport, FakeAccelerator* device) {
    std::vector<std::unique_ptr<mpi::DeviceMemory>> memory;
    std::vector<std::vector<std::byte>> host;
    const auto make = [&](Bytes size_bytes) {
      if (device != nullptr) {
        memory.push_back(device->make_memory(size_bytes, "a tensor"));
        return memory.back()->data();
      }
      host.emplace_back(size_bytes);
      return host.back().data();
    };
    std::vector<mpi::Message> sends, receives;
    for (std::size_t peer = 0; peer < kRanks; ++peer) {
      for (std::size_t i = 0; peer != transport.rank().index() && i < kSizes.size(); ++i) {
        sends.push_back({Rank(peer), static_cast<int>(i), make(kSizes[i]), kSizes[i]});
        receives.push_back({Rank(peer), static_cast<int>(i), make(kSizes[i]), kSizes[i]});
      }
    }
    const auto channel = transport.open_channel(sends, receives);
    run_iterations(*channel, sends.size(), 1);
    const std::size_t synchronizations = device != nullptr ? device->synchronizations() : 0;
    together.arrive_and_wait();
    counting = true;
    together.arrive_and_wait();
    run_iterations(*channel, sends.size(), 3);
    together.arrive_and_wait();
    counting = false;
    together.arrive_and_wait();
    EXPECT_EQ(device != nullptr ? device->synchronizations() : 0, synchronizations);
    if (device != nullptr) device->synchronize();
    channel->disconnect();
    transport.barrier();
  });
  return allocations;
}

TEST(DeviceAllocation, TheCounterCounts) {
  allocations = 0;
  counting = true;
  const auto one = std::make_unique<int>(1);
  counting = false;
  EXPECT_EQ(allocations, 1u);
}

TEST(DeviceAllocation, NoneInAnIteration) {
  for (const RouteCase& routes : device_route_cases()) {
    EXPECT_EQ(allocations_by(routes), 0u) << routes;
  }
}

TEST(DeviceAllocation, NoneWhereNoRankHasADevice) {
  EXPECT_EQ(allocations_by(route_case("host")), 0u);
}

}  // namespace
}  // namespace hios::test
