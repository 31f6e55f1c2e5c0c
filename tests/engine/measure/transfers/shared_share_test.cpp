// The share of shared memory's times that operators lose, and how it scales curves.
#include "engine/measure/transfers/shared_share.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/measure/profiler.h"
#include "engine/measure/short_profiles.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::FakeBackend;
using test::FakeSource;
using test::kShort;
using test::random_network;
using test::RandomNetwork;
using test::run_ranks;

constexpr Bytes kLargestShared = Bytes{1} << 14;
const std::vector<std::size_t> kThreeOfOneHost = {0, 0, 0};

/// Measures transfers with a backend of its own.
Measured measure(const RandomNetwork& network, mpi::Transport& transport, Configuration& into,
                 std::span<const std::size_t> sharers, const Protocol& protocol = kShort) {
  FakeBackend backend{2};
  FakeSource source;
  Profiler profiler({network.coarse, network.model, backend, transport, source}, protocol);
  return profiler.measure_transfers(into, kLargestShared, sharers);
}

TEST(SharedShare, IsOfTheFirstTwoRanksThatShareMemory) {
  const RandomNetwork network = random_network(13, 3);
  const std::vector<std::size_t> sharers = {0, 1, 1, 1};
  std::vector<std::size_t> operators;
  for (std::size_t rank = 0; rank < sharers.size(); ++rank)
    operators.push_back(plan_of_two(network.coarse, sharers, Rank(rank)).stages.size());
  EXPECT_EQ(operators, (std::vector<std::size_t>{0, 7, 6, 0}));
}

TEST(SharedShare, ScalesTheCurvesOnceAndSaysByHowMuch) {
  const RandomNetwork network = random_network(12, 11);
  run_ranks(3, [&](mpi::Transport& transport) {
    Configuration configuration;
    EXPECT_EQ(measure(network, transport, configuration, kThreeOfOneHost).done, 6u);
    const Json shared = configuration.protocol["shared"];
    EXPECT_GE(shared.at("share"), 0);
    EXPECT_LE(shared.at("share"), 1);
    EXPECT_EQ(shared.at("samples"), kShort.iterations);
    // A pair that is measured later is scaled by the share that is known.
    configuration.protocol["shared"] = {{"share", 0}, {"samples", 7}};
    std::erase_if(configuration.transfers,
                  [](const TransferCurve& curve) { return curve.from + curve.to == 3; });
    const std::vector<TransferCurve> known = configuration.transfers;
    EXPECT_EQ(measure(network, transport, configuration, kThreeOfOneHost).done, 2u);
    for (const TransferCurve& curve : configuration.transfers) {
      if (curve.from + curve.to < 3) {
        EXPECT_TRUE(std::ranges::find(known, curve) != known.end()) << "scaled twice";
        continue;
      }
      for (const auto& [bytes, ms] : curve.shared) {
        EXPECT_DOUBLE_EQ(ms, curve.points.front().second) << "all but the signal is lost";
      }
    }
    EXPECT_EQ(configuration.protocol["shared"].at("samples"), 7);
  });
}

TEST(SharedShare, LeavesNoCurveUnscaledWhereTheMeasurementIsStopped) {
  const RandomNetwork network = random_network(12, 11);
  for (const int runs : {3, 40, 90, 160, 200, 226, 228, 230}) {
    SCOPED_TRACE(runs);
    run_ranks(3, [&](mpi::Transport& transport) {
      Configuration configuration;
      int left = runs;
      Protocol protocol = kShort;
      protocol.stop = [&] { return --left <= 0; };
      if (!measure(network, transport, configuration, kThreeOfOneHost, protocol).stopped) return;
      EXPECT_FALSE(configuration.protocol->contains("shared"));
      EXPECT_TRUE(configuration.transfers.empty());
      EXPECT_FALSE(measure(network, transport, configuration, kThreeOfOneHost).stopped);
      for (const TransferCurve& curve : configuration.transfers)
        EXPECT_EQ(curve.shared.size(), curve.points.size());
    });
  }
}

}  // namespace
}  // namespace hios
