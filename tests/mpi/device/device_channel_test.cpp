#include "mpi/device/device_channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <tuple>

#include "support/expect_error.h"
#include "support/transports/device_ranks.h"
#include "support/transports/posted_messages.h"
#include "support/transports/transport_contract.h"

namespace hios::test {
namespace {

using mpi::Transport;
using Pace = FakeOptions::Pace;

class BetweenDevices
    : public testing::TestWithParam<std::tuple<ContractCase, RouteCase, std::size_t>> {};

/// A lazy device shows a missing wait, an eager one a buffer that was overwritten too early.
TEST_P(BetweenDevices, KeepsTheContractAtEveryPace) {
  const ContractCase contract = std::get<0>(GetParam());
  for (const Pace pace : {Pace::kLazy, Pace::kRandom, Pace::kEager}) {
    DeviceRanks setting{std::get<1>(GetParam()), pace};
    run_device_ranks(std::get<2>(GetParam()), setting, contract.check);
  }
}

TEST_P(BetweenDevices, KeepsTheContractWhenMessagesAreLate) {
  const ContractCase contract = std::get<0>(GetParam());
  DeviceRanks setting{std::get<1>(GetParam())};
  setting.seed = 5;
  setting.threads.seed = 11;
  setting.threads.max_delay_ms = 0.2;
  run_device_ranks(std::get<2>(GetParam()), setting, contract.check);
}

INSTANTIATE_TEST_SUITE_P(
    Transport, BetweenDevices,
    testing::Combine(testing::ValuesIn(transport_contract().begin(), transport_contract().end()),
                     testing::ValuesIn(device_route_cases()), testing::Values(2u, 4u)),
    [](const auto& c) {
      return std::string(std::get<0>(c.param).name) + "_" + std::get<1>(c.param).name + "_" +
             std::to_string(std::get<2>(c.param)) + "Ranks";
    });

/// A job without devices, inside the same wrapper.
class BetweenHosts : public testing::TestWithParam<ContractCase> {};

TEST_P(BetweenHosts, KeepsTheContract) {
  for (const std::size_t ranks : {1u, 2u, 4u}) {
    run_device_ranks(ranks, {route_case("host")}, GetParam().check);
  }
}

/// Two ranks without a device, served by the fallback route.
TEST_P(BetweenHosts, KeepsTheContractInChunks) {
  run_ranks(2, [&](Transport& plain) {
    const auto transport = mpi::make_tensor_transport(
        plain, nullptr, mpi::RouteTable::uniform(2, mpi::fallback_route()));
    GetParam().check(*transport, nullptr);
  });
}

INSTANTIATE_TEST_SUITE_P(Transport, BetweenHosts,
                         testing::ValuesIn(transport_contract().begin(),
                                           transport_contract().end()),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(TensorTransport, HandsChannelsThroughWhereNoRankHasADevice) {
  run_device_ranks(2, {route_case("host")}, [](Transport& transport, FakeAccelerator* device) {
    EXPECT_EQ(device, nullptr);
    const auto channel = transport.open_channel({}, {});
    EXPECT_EQ(dynamic_cast<mpi::DeviceChannel*>(channel.get()), nullptr);
    EXPECT_EQ(transport.path(), "ranks as threads");
  });
}

TEST(TensorTransport, DescribesItsRoutes) {
  run_device_ranks(3, {mixed_routes()}, [](Transport& transport, FakeAccelerator*) {
    EXPECT_EQ(transport.path(), "ranks as threads, device tensors by cuda-aware, staged");
  });
  run_device_ranks(2, {route_case("ipc")}, [](Transport& transport, FakeAccelerator*) {
    EXPECT_EQ(transport.path(), "ranks as threads, device tensors by ipc");
  });
}

/// After finish() the copies themselves have ended on both sides: here the host looks, and spoils,
/// without asking the device; it can, because the fake's memory is the host's.
TEST(DeviceChannel, FinishLeavesNothingUnderWay) {
  for (const RouteCase& routes : device_route_cases()) {
    if (routes.route == nullptr) continue;
    DeviceRanks setting{routes, Pace::kLazy};
    run_device_ranks(2, setting, [&](Transport& transport, FakeAccelerator* device) {
      constexpr Bytes kSize = 600000;
      const auto out = device->make_memory(kSize, "out"), in = device->make_memory(kSize, "in");
      const std::byte mine = static_cast<std::byte>(transport.rank().index());
      const Rank peer(1 - transport.rank().index());
      const std::array<mpi::Message, 1> send = {{{peer, 1, out->data(), kSize}}};
      const std::array<mpi::Message, 1> receive = {{{peer, 1, in->data(), kSize}}};
      const auto channel = transport.open_channel(send, receive);
      std::fill_n(out->data(), kSize, mine);
      channel->start_receives();
      channel->start_send(0);
      channel->finish();
      std::fill_n(out->data(), kSize, std::byte{0xdd});
      EXPECT_EQ(std::count(in->data(), in->data() + kSize, mine ^ std::byte{1}), kSize) << routes;
      device->synchronize();
      EXPECT_EQ(std::count(in->data(), in->data() + kSize, mine ^ std::byte{1}), kSize) << routes;
      channel->disconnect();
      transport.barrier();
    });
  }
}

TEST(DeviceChannel, AnEmptyMessageNeedsNoMemoryOfADevice) {
  for (const RouteCase& routes : device_route_cases()) {
    if (routes.route == nullptr) continue;
    run_device_ranks(2, {routes}, [&](Transport& transport, FakeAccelerator*) {
      const Rank peer(1 - transport.rank().index());
      const std::array<mpi::Message, 1> nothing = {{{peer, 1, nullptr, 0}}};
      const auto channel = transport.open_channel(nothing, nothing);
      channel->start_receives();
      channel->start_send(0);
      channel->finish();
      EXPECT_TRUE(channel->received(0)) << routes;
      channel->disconnect();
      transport.barrier();
    });
  }
}

/// A send may start before the rank's receives are posted, among them the answer to it.
TEST(DeviceChannel, ASharedTensorIsReadOnlyAfterItsPeersMessage) {
  run_device_ranks(2, {route_case("ipc")}, [&](Transport& transport, FakeAccelerator* device) {
    PostedMessages exchange(transport, device, all_pairs(2, {100}));
    const std::size_t own = transport.rank().index();  // the post that this rank sends
    for (std::size_t iteration = 0; iteration < 2; ++iteration) {
      exchange.start_send(own, iteration);
      exchange.channel().poll();
      EXPECT_FALSE(exchange.channel().sent(0)) << "iteration " << iteration;
      exchange.start_receives();
      exchange.await_send(own);
      exchange.await_receive(1 - own, iteration);
      exchange.finish();
      transport.barrier();
    }
  });
}

/// Tensors that leave a stage together have one event on either side, and arrive as others do.
TEST(DeviceChannel, ABatchHasOneEventOnEitherSide) {
  constexpr std::size_t kBatches = 2, kTensors = 3;
  run_device_ranks(2, {route_case("ipc")}, [&](Transport& transport, FakeAccelerator* device) {
    const std::size_t self = transport.rank().index();
    const auto content = [](std::size_t rank, std::size_t tag, std::size_t iteration) {
      return std::vector<std::byte>(100, static_cast<std::byte>(100 * rank + 10 * tag + iteration));
    };
    std::vector<std::vector<std::byte>> bytes;  // which queued work reads
    bytes.reserve(100);
    std::vector<std::unique_ptr<Tensor>> sent, received;
    std::vector<mpi::Message> sends, receives;
    for (std::size_t tag = 0; tag < kBatches * kTensors; ++tag) {
      sent.push_back(std::make_unique<Tensor>(device, 100));
      received.push_back(std::make_unique<Tensor>(device, 100));
      sends.push_back({Rank(1 - self), static_cast<int>(tag), sent.back()->data(), 100});
      receives.push_back({Rank(1 - self), static_cast<int>(tag), received.back()->data(), 100});
      sends.back().batch = receives.back().batch = 1 + tag / kTensors;
    }
    const auto channel = transport.open_channel(sends, receives);
    EXPECT_EQ(device->shared_events(), 2 * kBatches);
    for (std::size_t iteration = 0; iteration < 3; ++iteration) {
      device->synchronize();
      for (const auto& tensor : received) tensor->spoil_now();
      channel->start_receives();
      for (std::size_t tag = 0; tag < sent.size(); ++tag) {
        sent[tag]->fill(bytes.emplace_back(content(self, tag, iteration)));
        const std::size_t first = tag + 1 - kTensors;
        for (std::size_t i = first; tag % kTensors == kTensors - 1 && i <= tag; ++i) {
          channel->start_send(i);
        }
      }
      for (std::size_t tag = 0; tag < received.size(); ++tag) {
        channel->await_receive(tag);
        received[tag]->expect(bytes.emplace_back(content(1 - self, tag, iteration)),
                              "tensor " + std::to_string(tag));
      }
      channel->finish();
    }
    device->synchronize();
    channel->disconnect();
    transport.barrier();
  });
}

/// A receiver has a queue for each sender: rank 1's tensor is announced first and is late, rank 2's
/// is ready.
TEST(DeviceChannel, ACopyDoesNotWaitForAnotherRanksLateTensor) {
  DeviceRanks setting{route_case("ipc"), Pace::kLazy};
  std::atomic<bool> late_has_run = false;
  run_device_ranks(3, setting, [&](Transport& transport, FakeAccelerator* device) {
    PostedMessages exchange(transport, device, {{1, 0, 1, 100}, {2, 0, 1, 100}});
    exchange.start_receives();
    transport.barrier();
    if (transport.rank() == Rank(1)) {
      device->enqueue(mpi::Queue::kWork, [&] { late_has_run = true; });
      exchange.start_send(0, 0);
    }
    if (transport.rank() == Rank(0)) {
      while (!exchange.channel().received(0)) exchange.channel().poll();
    }
    transport.barrier();
    if (transport.rank() == Rank(2)) exchange.start_send(1, 0);
    if (transport.rank() == Rank(0)) {
      exchange.await_receive(1, 0);
      const auto there = device->make_event(/*shared=*/false);
      device->record(*there, mpi::Queue::kWork);
      while (!there->done()) {
      }
      EXPECT_FALSE(late_has_run);
      exchange.await_receive(0, 0);
    }
    transport.barrier();
    exchange.finish();
  });
  EXPECT_TRUE(late_has_run);
}

/// A message that only queues work, once its turn has come.
struct TakesTurns final : mpi::Endpoint {
  void start() override {}
  bool push() override { return turn; }
  bool ready() override { return turn; }
  bool recordable() const override { return true; }
  bool turn = false;
};
/// A message whose part on the device has ended.
struct Produced final : mpi::Endpoint {
  void start() override {}
  bool push() override { return pushed = true; }
  bool ready() override { return pushed; }
  bool pushed = false;
};

/// The turn may depend on a message that the rank starts only after it has got an answer to the
/// later send.
TEST(DeviceChannel, ASendThatAwaitsItsTurnDelaysNoLaterOne) {
  run_ranks(1, [](Transport& transport) {
    auto inner = std::make_unique<mpi::InnerMessages>();
    inner->open(transport);
    std::vector<std::unique_ptr<mpi::Endpoint>> sends;
    auto first = std::make_unique<TakesTurns>();
    TakesTurns& in_turn = *first;
    sends.push_back(std::move(first));
    sends.push_back(std::make_unique<Produced>());
    mpi::DeviceChannel channel(std::move(sends), {}, std::move(inner),
                               std::make_shared<mpi::OpenChannels>());
    channel.start_receives();
    channel.start_send(0);
    channel.start_send(1);
    channel.poll();
    EXPECT_FALSE(channel.sent(0));
    EXPECT_TRUE(channel.sent(1));
    in_turn.turn = true;
    channel.finish();
  });
}

/// Expects the error on every rank when opening a channel fails somewhere.
void expect_joint_failure(const DeviceRanks& setting, std::initializer_list<std::string_view> words,
                          const std::function<std::vector<Post>(Rank)>& posts) {
  std::atomic<int> failures = 0;
  run_device_ranks(3, setting, [&](Transport& transport, FakeAccelerator* device) {
    expect_error<RunError>([&] { PostedMessages(transport, device, posts(transport.rank())); },
                           words);
    ++failures;
  });
  EXPECT_EQ(failures, 3);
}

TEST(DeviceChannel, ThatCannotBeMappedFailsOnAllRanks) {
  DeviceRanks setting{route_case("ipc")};
  setting.with = [](Rank rank, FakeOptions& options) { options.imports = rank != Rank(2); };
  expect_joint_failure(setting, {"rank 2: FAKE-2 has no peer access"},
                       [](Rank) { return all_pairs(3, {100}); });
  setting.with = [](Rank rank, FakeOptions& options) { options.exports = rank != Rank(0); };
  expect_joint_failure(setting, {"rank 0: FAKE-0 cannot share"},
                       [](Rank) { return all_pairs(3, {100}); });
}

TEST(DeviceChannel, NoticesSidesThatDoNotMatch) {
  expect_joint_failure({route_case("ipc")}, {"rank 1 to rank 2, tag 4", "8 bytes", "9"},
                       [](Rank rank) {
                         return std::vector<Post>{{1, 2, 4, rank == Rank(1) ? Bytes{8} : Bytes{9}}};
                       });
  expect_joint_failure(
      {route_case("ipc")}, {"rank 1 to rank 2, tag 4", "one side only"}, [](Rank rank) {
        return rank == Rank(1) ? std::vector<Post>{{1, 2, 4, 8}} : std::vector<Post>{};
      });
}

/// Work that fails on a device ends the waits for messages that depend on it, on every route.
TEST(DeviceChannel, ReportsAFailureOfTheDevice) {
  for (const RouteCase& routes : device_route_cases()) {
    for (const std::size_t failing : {0u, 5u}) {
      DeviceRanks setting{routes};
      setting.with = [&](Rank rank, FakeOptions& options) {
        if (rank == Rank(0)) options.failing = failing;
      };
      expect_error<RunError>(
          [&] {
            run_device_ranks(3, setting, [](Transport& transport, FakeAccelerator* device) {
              PostedMessages exchange(transport, device, all_pairs(3, {5000, 600000}));
              for (std::size_t iteration = 0; iteration < 3; ++iteration) {
                exchange.start_receives();
                for (std::size_t post = 0; post < exchange.size(); ++post) {
                  if (exchange.sends(post)) exchange.start_send(post, iteration);
                }
                exchange.finish();
              }
            });
          },
          {"operation " + std::to_string(failing) + " failed"});
    }
  }
}

}  // namespace
}  // namespace hios::test
