// The time that transfers take from computing ranks, with ranks as threads and a transport whose
// calls take a chosen time.
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "engine/host/clock.h"
#include "engine/measure/profiler.h"
#include "hios/profile/profile_json.h"
#include "support/fakes/fake_backend.h"
#include "support/fakes/fake_disturbance.h"
#include "support/networks/random_network.h"
#include "support/schema.h"
#include "support/transports/forwarding_transport.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::FakeBackend;
using test::FakeSource;
using test::random_network;
using test::RandomNetwork;
using test::run_ranks;

const Protocol kFiveIterations{.warmup = 1, .iterations = 5};
constexpr double kTransferMs = 0.4;

void spin_ms(double ms) {
  const Stopwatch stopwatch;
  while (stopwatch.ms() < ms) {
  }
}

/// A channel whose sender, or whose receiver, is busy with each tensor for a while.
class BusyChannel final : public mpi::Channel {
 public:
  BusyChannel(std::unique_ptr<mpi::Channel> under, std::size_t receives, IoCharge busy)
      : under_(std::move(under)), receives_(receives), busy_(busy) {}
  void start_receives() override {
    under_->start_receives();
    pending_ = receives_ > 0;
  }
  void start_send(std::size_t send) override {
    spin_ms(busy_.send * kTransferMs);
    under_->start_send(send);
  }
  void await_receive(std::size_t receive) override { under_->await_receive(receive); }
  void await_send(std::size_t send) override { under_->await_send(send); }
  bool received(std::size_t receive) override { return under_->received(receive); }
  bool sent(std::size_t send) override { return under_->sent(send); }
  void poll() override {
    under_->poll();
    if (!pending_ || !under_->received(0)) return;
    pending_ = false;
    spin_ms(busy_.receive * kTransferMs);
  }
  void finish() override { under_->finish(); }
  bool finished() override { return under_->finished(); }

 private:
  std::unique_ptr<mpi::Channel> under_;
  std::size_t receives_;
  IoCharge busy_;
  bool pending_ = false;
};

class BusyTransport final : public test::ForwardingTransport {
 public:
  BusyTransport(mpi::Transport& under, IoCharge busy) : ForwardingTransport(under), busy_(busy) {}
  bool claims_device_memory() const override { return false; }
  std::unique_ptr<mpi::Channel> open_channel(std::span<const mpi::Message> sends,
                                             std::span<const mpi::Message> receives) override {
    for (const mpi::Message& message : sends) EXPECT_TRUE(message.synchronous);
    return std::make_unique<BusyChannel>(inner().open_channel(sends, receives), receives.size(),
                                         busy_);
  }

 private:
  IoCharge busy_;
};

/// Returns a configuration as if operators and transfers had been measured before.
Configuration known_times(const Graph& graph, std::size_t ranks) {
  Configuration known;
  known.kind = "cpu";
  known.ranks = ranks;
  for (const Operator& op : graph.operators()) known.operators[op.signature] = {0.02, 0.02, 1};
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from != to) known.transfers.push_back({from, to, {{1024, kTransferMs}}});
    }
  }
  return known;
}

/// Measures charges in a job; returns them, the same on every rank.
Configuration measured_with(std::size_t ranks, IoCharge busy,
                            ChargeEffort effort = ChargeEffort::kWhole) {
  const RandomNetwork network = random_network(12, 3);
  std::mutex mutex;
  std::set<std::string> texts;
  Configuration result;
  run_ranks(ranks, [&](mpi::Transport& plain) {
    BusyTransport transport(plain, busy);
    FakeBackend backend;
    backend.on_run = [](const std::string&) { spin_ms(0.02); };
    FakeSource source;
    Profiler profiler({network.coarse, network.model, backend, transport, source}, kFiveIterations);
    Configuration configuration = known_times(network.coarse.graph, ranks);
    const Measured measured = profiler.measure_charges(configuration, effort);
    EXPECT_EQ(measured.done, measured.missing);
    if (configuration.io_charge) {
      EXPECT_EQ(profiler.measure_charges(configuration, effort).missing, 0u) << "nothing twice";
    }
    const std::lock_guard lock(mutex);
    texts.insert(to_json(Profile{{configuration}}).dump());
    result = configuration;
  });
  EXPECT_EQ(texts.size(), 1u) << "ranks hold different charges";
  test::expect_meets_schema(parse_json(*texts.begin(), "p.json"));
  return result;
}

TEST(Charges, AreMeasuredFromEachRankToTheNext) {
  for (const std::size_t ranks : {2, 3}) {
    const Configuration measured = measured_with(ranks, {0, 0});
    ASSERT_TRUE(measured.io_charge);
    const IoCharge charge = measured.io_charge->charge;
    EXPECT_GE(charge.send, 0);
    EXPECT_LE(charge.send, kMostIoCharge);
    EXPECT_GE(charge.receive, 0);
    EXPECT_LE(charge.receive, kMostIoCharge);
    EXPECT_GT(measured.io_charge->samples, 0);
    for (const Json& one : measured.protocol->at("charges"))
      EXPECT_EQ(one["to"].get<std::size_t>(), (one["from"].get<std::size_t>() + 1) % ranks);
  }
}

/// Returns true if the charges that are measured are as they should be, in one of some tries: a
/// busy machine adds to the times of either end.
bool measured_once(const IoCharge& busy, ChargeEffort effort,
                   const std::function<bool(const std::optional<MeasuredCharge>&)>& right) {
  for (int i = 0; i < 5; ++i) {
    if (right(measured_with(2, busy, effort).io_charge)) return true;
  }
  return false;
}

TEST(Charges, ASenderThatIsBusyWithItsTensorsIsCharged) {
  EXPECT_TRUE(measured_once({0.9, 0}, ChargeEffort::kWhole, [](const auto& measured) {
    return measured && measured->charge.send > 0.5;
  }));
}

TEST(Charges, AReceiverThatIsBusyWithItsTensorsIsCharged) {
  EXPECT_TRUE(measured_once({0, 0.9}, ChargeEffort::kWhole, [](const auto& measured) {
    return measured && measured->charge.receive > 0.5;
  }));
}

TEST(Charges, AreMeasuredQuicklyByFewTransfersAndAgainByAll) {
  const Configuration measured = measured_with(4, {0, 0.6}, ChargeEffort::kQuick);
  EXPECT_FALSE(measured.protocol->contains("charges")) << "the whole protocol's are listed";
  if (measured.io_charge) {  // a machine that is busy meanwhile may give nonsense
    EXPECT_GE(measured.io_charge->charge.receive, 0);
    EXPECT_LE(measured.io_charge->charge.receive, 3);
  }
  const RandomNetwork network = random_network(12, 3);
  run_ranks(2, [&](mpi::Transport& transport) {
    FakeBackend backend;
    FakeSource source;
    Profiler profiler({network.coarse, network.model, backend, transport, source}, kFiveIterations);
    Configuration known = known_times(network.coarse.graph, 2);
    known.io_charge = MeasuredCharge{{0, 0.5}, 3};
    EXPECT_EQ(profiler.measure_charges(known, ChargeEffort::kQuick).missing, 0u);
    EXPECT_GT(profiler.measure_charges(known, ChargeEffort::kWhole).done, 0u);
  });
}

TEST(Charges, ATimeThatCannotBeIsDropped) {
  EXPECT_TRUE(
      measured_once({0, 4}, ChargeEffort::kQuick, [](const auto& measured) { return !measured; }));
}

TEST(Charges, OneRankHasNone) {
  const RandomNetwork network = random_network(5, 1);
  run_ranks(1, [&](mpi::Transport& transport) {
    FakeBackend backend;
    FakeSource source;
    Profiler profiler({network.coarse, network.model, backend, transport, source}, kFiveIterations);
    Configuration configuration = known_times(network.coarse.graph, 1);
    EXPECT_EQ(profiler.measure_charges(configuration).missing, 0u);
    EXPECT_EQ(profiler.measure_warm(configuration).missing, 0u);
    EXPECT_FALSE(configuration.io_charge);
  });
}

TEST(Charges, AStoppedMeasuringLeavesNone) {
  const RandomNetwork network = random_network(12, 3);
  run_ranks(2, [&](mpi::Transport& transport) {
    FakeBackend backend;
    FakeSource source;
    Protocol protocol = kFiveIterations;
    protocol.stop = [] { return true; };
    Profiler profiler({network.coarse, network.model, backend, transport, source}, protocol);
    Configuration configuration = known_times(network.coarse.graph, 2);
    EXPECT_TRUE(profiler.measure_charges(configuration).stopped);
    EXPECT_FALSE(configuration.io_charge);
  });
}

}  // namespace
}  // namespace hios
