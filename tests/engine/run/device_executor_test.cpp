// The executor on an asynchronous device that runs as late and in as unusual an order as events
// allow: the same bits as one operator at a time, through every route between ranks.
#include <gtest/gtest.h>

#include "engine/job/verification.h"
#include "engine/run/executor.h"
#include "engine/run/one_device.h"
#include "engine/run/plan/plan.h"
#include "hios/base/error.h"
#include "mpi/messages/serial.h"
#include "support/expect_error.h"
#include "support/fakes/fake_async_backend.h"
#include "support/networks/as_alone.h"
#include "support/networks/random_network.h"
#include "support/transports/device_ranks.h"

namespace hios {
namespace {

using test::backend_on;
using test::DeviceRanks;
using test::FakeAccelerator;
using test::FakeAsyncBackend;
using test::FakeBackend;
using test::FakeOptions;
using test::FakeSource;
using test::OneDevice;
using test::random_network;
using test::random_schedule;
using test::RandomNetwork;
using test::RouteCase;
using test::run_device_ranks;

// `expected`: a tensor of the graph, whose elements may be halves.
bool equal(const std::vector<float>& values, const std::vector<std::byte>& expected,
           const CoarseGraph& coarse) {
  return job::compare(values, test::as_floats(expected, test::arithmetic_of(coarse)), {}).bitwise;
}

// Compares every output that is not overwritten, after each of three iterations.
void expect_devices_as_alone(const RandomNetwork& network, const Schedule& schedule,
                             const PlanOptions& options, bool records, const DeviceRanks& setting) {
  const auto expected = test::computed_alone(network);
  const auto body = [&](mpi::Transport& transport, FakeAccelerator* device) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank(), options);
    const auto backend = backend_on(device, records);
    backend->arithmetic = test::arithmetic_of(network.coarse);
    FakeSource mine;
    Executor executor({network.coarse, network.model, *backend, transport, mine}, plan);
    for (int iteration = 0; iteration < 3; ++iteration) {
      executor.record_stages(iteration == 1);
      backend->poison_tensors();
      transport.barrier();
      executor.run_once();
      test::expect_outputs(executor, plan, network, options, expected, iteration);
    }
    executor.close();
  };
  run_device_ranks(schedule.devices.size(), setting, body);
}

class DeviceExecutor : public testing::TestWithParam<RouteCase> {};

TEST_P(DeviceExecutor, RandomSchedulesGiveWhatOneOperatorAtATimeGives) {
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(5 + seed % 25, seed, seed % 3 == 1 ? 2 : 4);
    const Schedule schedule =
        random_schedule(network.coarse.graph, 1 + seed % 4, 1 + seed % 3, seed);
    DeviceRanks setting{GetParam()};
    setting.seed = seed;
    setting.pace = seed % 5 == 3   ? FakeOptions::Pace::kLazy
                   : seed % 5 == 4 ? FakeOptions::Pace::kEager
                                   : FakeOptions::Pace::kRandom;
    expect_devices_as_alone(network, schedule, {.keep_all = seed % 4 == 3}, seed % 3 != 2, setting);
  }
}

TEST_P(DeviceExecutor, LateMessagesChangeNothing) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(20, seed);
    DeviceRanks setting{GetParam()};
    setting.seed = seed;
    setting.threads.seed = seed;
    setting.threads.max_delay_ms = 0.5;
    expect_devices_as_alone(network, random_schedule(network.coarse.graph, 3, 2, seed), {}, true,
                            setting);
  }
}

TEST_P(DeviceExecutor, ARankWithoutOperatorsParticipates) {
  const RandomNetwork network = random_network(6, 1);
  const auto order = network.coarse.graph.topological();
  Schedule schedule{{one_operator_stages({order.begin(), order.end()})}};
  schedule.devices.resize(3);
  expect_devices_as_alone(network, schedule, {}, true, {GetParam()});
}

INSTANTIATE_TEST_SUITE_P(Routes, DeviceExecutor, testing::ValuesIn(test::device_route_cases()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(DeviceExecutorAlone, RecordsASegmentOnceAndReplaysIt) {
  const RandomNetwork network = random_network(20, 3);
  OneDevice alone(network, random_schedule(network.coarse.graph, 1, 3, 3));
  EXPECT_EQ(alone.backend.recordings, 1u);
  for (int i = 0; i < 3; ++i) alone.executor.run_once();
  EXPECT_EQ(alone.backend.replays, 3u);
  alone.executor.record_stages(true);
  alone.executor.run_once();
  alone.executor.record_stages(false);
  alone.executor.record_stages(true);
  alone.executor.run_once();
  EXPECT_EQ(alone.backend.recordings, 2u) << "one more, with the clock";
  EXPECT_EQ(alone.backend.queued_stages, 2 * alone.plan.stages.size()) << "before each recording";
}

// Where the device has no memory for a recording, it could be made with more free memory: the owner
// of memory that could be freed decides.
TEST(DeviceExecutorAlone, ReportsMissingMemoryForARecording) {
  const RandomNetwork network = random_network(20, 3);
  OneDevice alone(network, random_schedule(network.coarse.graph, 1, 3, 3), {}, true, false, 1);
  alone.backend.refuses_for_memory = true;
  test::expect_error<RunError>([&] { alone.executor.record_stages(true); },
                               {"no memory for a recording"});
  EXPECT_EQ(alone.backend.recording_refused(), "");
}

/// The first segment of the second set, with readings of the clock, is refused: the first set stays
/// in use.
TEST(DeviceExecutorAlone, ComputesTheSameWhereTheDeviceRefusesToRecord) {
  const RandomNetwork network = random_network(20, 3);
  FakeBackend oracle;
  FakeSource source;
  const auto expected = test::evaluate_alone(network.coarse, network.model, oracle, source);
  for (const std::size_t recordings : {0u, 1u}) {
    OneDevice alone(network, random_schedule(network.coarse.graph, 1, 3, 3), {}, true, false,
                    recordings);
    EXPECT_EQ(alone.backend.recording_refused().empty(), recordings > 0);
    alone.executor.record_stages(true);
    EXPECT_EQ(alone.backend.recording_refused(), "the test switched recording off");
    for (const bool timed : {true, false, true}) {
      alone.executor.record_stages(timed);
      alone.executor.run_once();
      for (const OpId op : alone.plan.outputs) {
        EXPECT_TRUE(equal(alone.executor.output(op), expected[op.index()], network.coarse));
      }
    }
    EXPECT_EQ(alone.backend.recordings, recordings);
    EXPECT_EQ(alone.backend.replays, recordings);
  }
}

TEST(DeviceExecutorAlone, QueuesStagesWhereNothingIsRecorded) {
  const RandomNetwork network = random_network(20, 3);
  OneDevice alone(network, random_schedule(network.coarse.graph, 1, 3, 3), {}, /*records=*/false);
  for (int i = 0; i < 3; ++i) alone.executor.run_once();
  EXPECT_EQ(alone.backend.queued_stages, 3 * alone.plan.stages.size());
}

TEST(DeviceExecutorAlone, WaitsForTheDeviceOnceAnIteration) {
  const RandomNetwork network = random_network(20, 3);
  OneDevice alone(network, random_schedule(network.coarse.graph, 1, 3, 3));
  const std::size_t before = alone.device.synchronizations();
  for (int i = 0; i < 5; ++i) alone.executor.run_once();
  EXPECT_EQ(alone.device.synchronizations() - before, 5u);
}

TEST(DeviceExecutorAlone, StageClocksAreTheDevices) {
  const RandomNetwork network = random_network(25, 5);
  for (const bool records : {true, false}) {
    OneDevice alone(network, random_schedule(network.coarse.graph, 1, 3, 5), {}, records);
    alone.executor.record_stages(true);
    for (int iteration = 0; iteration < 2; ++iteration) {
      const double total = alone.executor.run_once();
      EXPECT_GE(alone.executor.overhead_ms(), 0);
      EXPECT_LT(alone.executor.overhead_ms(), total);
      // The fake device takes a millisecond for an operator, and for nothing else.
      double clock_ms = 0;
      for (std::size_t stage = 0; stage < alone.plan.stages.size(); ++stage) {
        const StageTimes& clock = alone.executor.clocks().stages[stage];
        EXPECT_EQ(clock.awaited_ms, clock_ms);
        EXPECT_EQ(clock.start_ms, clock_ms);
        for (const Group& group : alone.plan.stages[stage].groups) {
          clock_ms += static_cast<double>(group.size());
        }
        EXPECT_EQ(clock.end_ms, clock_ms) << "stage " << stage;
      }
    }
  }
}

TEST(DeviceExecutorAlone, StageClocksFollowEachOtherAcrossMessages) {
  const RandomNetwork network = random_network(25, 5);
  const Schedule schedule = random_schedule(network.coarse.graph, 2, 2, 5);
  run_device_ranks(
      2, {test::route_case("staged")}, [&](mpi::Transport& transport, FakeAccelerator* device) {
        const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
        FakeAsyncBackend backend(*device);
        backend.mark_ms = 0.5;  // so that the device has done nothing for a while before each stage
        FakeSource source;
        Executor executor({network.coarse, network.model, backend, transport, source}, plan);
        executor.record_stages(true);
        transport.barrier();
        executor.run_once();
        double before = 0;
        for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
          const StageTimes& clock = executor.clocks().stages[stage];
          const bool receives = std::ranges::any_of(
              plan.receives, [&](const auto& receive) { return receive.stage == stage; });
          EXPECT_LE(before, clock.awaited_ms);
          EXPECT_LE(clock.awaited_ms, clock.start_ms);
          EXPECT_LT(before, clock.start_ms);
          if (receives) {
            EXPECT_EQ(clock.awaited_ms, before) << "stage " << stage;
          }
          EXPECT_LT(clock.start_ms, clock.end_ms);
          before = clock.end_ms;
        }
        const RunClocks& clocks = executor.clocks();
        for (std::size_t i = 0; i < plan.sends.size(); ++i) {
          EXPECT_LE(clocks.stages[plan.sends[i].stage].end_ms, clocks.sends[i].start_ms);
          EXPECT_LE(clocks.sends[i].start_ms, clocks.sends[i].end_ms);
        }
        for (std::size_t i = 0; i < plan.receives.size(); ++i) {
          EXPECT_LE(clocks.receives[i].start_ms, clocks.receives[i].end_ms);
          EXPECT_LE(clocks.receives[i].end_ms, clocks.stages[plan.receives[i].stage].start_ms);
        }
      });
}

TEST(DeviceExecutorAlone, BlockingComputesTheSameAndRecordsNothing) {
  const RandomNetwork network = random_network(20, 3);
  FakeBackend oracle;
  FakeSource source;
  const auto expected = test::evaluate_alone(network.coarse, network.model, oracle, source);
  OneDevice alone(network, random_schedule(network.coarse.graph, 1, 3, 3), {}, true, true);
  for (int i = 0; i < 2; ++i) {
    alone.executor.record_stages(i == 1);
    alone.executor.run_once();
    for (const OpId op : alone.plan.outputs) {
      EXPECT_TRUE(equal(alone.executor.output(op), expected[op.index()], network.coarse));
    }
  }
  EXPECT_EQ(alone.backend.recordings, 0u);
  EXPECT_EQ(alone.backend.replays, 0u);
}

TEST(DeviceExecutorAlone, NamesTheTensorsThatMemoryLacks) {
  const RandomNetwork network = random_network(8, 1);
  const RankPlan plan =
      plan_rank(network.coarse, random_schedule(network.coarse.graph, 1, 1, 1), Rank(0));
  FakeOptions options;
  options.memory_bytes = 1;
  FakeAccelerator device(options);
  FakeAsyncBackend backend(device);
  backend.free_bytes = Bytes{1} << 40;  // the device reports a wrong number
  FakeSource source;
  const auto transport = mpi::make_serial_transport();
  test::expect_error<RunError>(
      [&] {
        Executor({network.coarse, network.model, backend, *transport, source}, plan);
      },
      {std::to_string(plan.arena_bytes) + " bytes for the tensors of rank 0",
       "the largest is op_"});
}

TEST(DeviceExecutorAlone, ReportsItsStepAndItsProgress) {
  const RandomNetwork network = random_network(6, 1);
  FakeOptions lazy;
  lazy.pace = FakeOptions::Pace::kLazy;  // everything runs while the host waits
  OneDevice alone(network, random_schedule(network.coarse.graph, 1, 2, 1), lazy);
  const std::string last = std::to_string(alone.plan.stages.size() - 1);
  std::size_t looks = 0;
  alone.backend.on_run = [&](const std::string&) {
    const std::string step = alone.executor.current_step();
    EXPECT_TRUE(step.starts_with("waiting for the device, given last stages 0 to " + last)) << step;
    ++looks;
  };
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t before = alone.executor.progress();
    alone.executor.run_once();
    EXPECT_GT(alone.executor.progress(), before);
    EXPECT_EQ(alone.executor.current_step(),
              "between two iterations, where ranks wait for each other");
  }
  EXPECT_EQ(looks, 2 * network.coarse.graph.size());
}

TEST(DeviceExecutorAlone, RefusesTensorsThatCannotFitBeforeItAllocates) {
  const RandomNetwork network = random_network(8, 1);
  const RankPlan plan =
      plan_rank(network.coarse, random_schedule(network.coarse.graph, 1, 1, 1), Rank(0));
  FakeOptions options;
  options.memory_bytes = 1;  // any allocation would fail
  FakeAccelerator device(options);
  FakeAsyncBackend backend(device);
  backend.free_bytes = plan.arena_bytes - 1;
  FakeSource source;
  const auto transport = mpi::make_serial_transport();
  try {
    Executor executor({network.coarse, network.model, backend, *transport, source}, plan);
    FAIL() << "it was accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("are missing"), std::string::npos) << error.what();
  }
}

TEST(DeviceOneRankRun, ComputesWhatTheHostComputes) {
  const RandomNetwork network = random_network(15, 4);
  FakeBackend oracle;
  oracle.arithmetic = test::arithmetic_of(network.coarse);
  FakeSource source;
  const auto expected = test::evaluate_alone(network.coarse, network.model, oracle, source);
  FakeAccelerator device;
  FakeAsyncBackend backend(device);
  const job::OneRankRun run(network.coarse, network.model, backend,
                            std::vector<int>(network.coarse.graph.size(), 1), source, "");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(equal(run.output(OpId(i)), expected[i], network.coarse))
        << network.coarse.graph.op(OpId(i)).name;
  }
}

}  // namespace
}  // namespace hios
