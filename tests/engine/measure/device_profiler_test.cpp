// The profiler on a device with a clock of its own: the fake's, by which every operator takes a
// millisecond, so that each time is known beforehand.
#include <gtest/gtest.h>

#include "engine/measure/profiler.h"
#include "engine/measure/short_profiles.h"
#include "engine/measure/stages/stage_batch.h"
#include "engine/measure/transfers/transfer_times.h"
#include "hios/evaluate/cost_model.h"
#include "mpi/messages/serial.h"
#include "support/fakes/fake_async_backend.h"
#include "support/networks/random_network.h"
#include "support/transports/device_ranks.h"

namespace hios {
namespace {

using test::FakeAccelerator;
using test::FakeAsyncBackend;
using test::FakeSource;
using test::independent_pairs;
using test::kShort;
using test::random_network;
using test::RandomNetwork;
using test::RouteCase;
using test::run_device_ranks;

TEST(DeviceProfiler, TimesOperatorsAndStagesByTheDevicesClock) {
  const RandomNetwork network = random_network(12, 11);
  for (const bool records : {true, false}) {
    run_device_ranks(
        2, {test::route_case("staged")}, [&](mpi::Transport& transport, FakeAccelerator* device) {
          FakeAsyncBackend backend(*device, records);
          backend.mark_ms = records ? 0.25 : 0;  // the time of a reading, in no operator's
          FakeSource source;
          Profiler profiler({network.coarse, network.model, backend, transport, source}, kShort);
          Configuration configuration;
          profiler.measure_operators(configuration);
          ASSERT_TRUE(configuration.launch);
          EXPECT_EQ(configuration.launch->marks_ms, backend.mark_ms);
          EXPECT_EQ(configuration.launch->samples, 2 * kShort.iterations);
          for (const auto& [signature, measurement] : configuration.operators) {
            EXPECT_EQ(measurement.ms, 1) << signature;
            EXPECT_EQ(measurement.min_ms, 1);
          }
          EXPECT_EQ(profiler.measure_operators(configuration).missing, 0u);
          configuration.launch.reset();
          EXPECT_EQ(profiler.measure_operators(configuration).missing,
                    configuration.operators.size())
              << "their times may hold what marks add";
          EXPECT_TRUE(configuration.launch);
          const auto stages = independent_pairs(network.coarse.graph);
          EXPECT_GT(profiler.measure_stages(stages, configuration, 60).done, 0u);
          for (const auto& [key, measurement] : configuration.stages) {
            EXPECT_EQ(measurement.ms, 2);
          }
          EXPECT_EQ(configuration.kind, "gpu");
          EXPECT_EQ(configuration.threads, 0);
        });
  }
}

TEST(DeviceStageBatch, ChillsAndProducesOutsideTheClockAndWaitsOnceASweep) {
  const RandomNetwork network = random_network(12, 11);
  const std::vector<Stage> stages = independent_pairs(network.coarse.graph);
  ASSERT_GT(stages.size(), 3u);
  FakeAccelerator device;
  FakeAsyncBackend backend(device);
  FakeSource source;
  constexpr Bytes kCold = Bytes{1} << 20;
  const auto transport = mpi::make_serial_transport();
  StageBatch batch({network.coarse, network.model, backend, *transport, source}, stages, kCold);
  const std::size_t before = device.synchronizations();
  std::vector<double> ms(stages.size());
  EXPECT_EQ(batch.sweep(ms), 2.0 * static_cast<double>(stages.size()));
  EXPECT_EQ(ms, std::vector<double>(stages.size(), 2));
  EXPECT_EQ(device.synchronizations() - before, 1u);
  EXPECT_EQ(backend.replays, stages.size());
  ASSERT_FALSE(backend.flushed_bytes.empty());
  for (const Bytes bytes : backend.flushed_bytes) EXPECT_LE(bytes, kCold);
}

TEST(TransferSizes, ArePowersOfTwoUpToTheLargest) {
  EXPECT_EQ(transfer_sizes().back(), kLargestMessage);
  EXPECT_EQ(transfer_sizes(5000), (std::vector<Bytes>{1024, 2048, 4096}));
  EXPECT_EQ(transfer_sizes(Bytes{1} << 28).size(), 19u);
}

class DeviceTransfers : public testing::TestWithParam<RouteCase> {};

TEST_P(DeviceTransfers, EveryPairGetsACurve) {
  const RandomNetwork network = random_network(3, 1);
  run_device_ranks(3, {GetParam()}, [&](mpi::Transport& transport, FakeAccelerator* device) {
    std::unique_ptr<test::FakeBackend> backend = std::make_unique<test::FakeBackend>();
    if (device != nullptr) backend = std::make_unique<FakeAsyncBackend>(*device);
    FakeSource source;
    Profiler profiler({network.coarse, network.model, *backend, transport, source},
                      {.warmup = 0, .iterations = 1});
    Configuration configuration;
    EXPECT_EQ(profiler.measure_transfers(configuration).done, 6u);
    ASSERT_EQ(configuration.transfers.size(), 6u);
    for (const TransferCurve& curve : configuration.transfers) {
      ASSERT_EQ(curve.points.size(), transfer_sizes().size());
      for (const auto& [size, ms] : curve.points) EXPECT_GT(ms, 0) << size << " bytes";
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Routes, DeviceTransfers, testing::ValuesIn(test::device_route_cases()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace hios
