// Cold starts on asynchronous devices that run as late and in as unusual an order as events allow,
// and that record only what CUDA would: the bits of one operator at a time with all parameters.
#include "engine/cold/device/device_loads.h"

#include <gtest/gtest.h>

#include <atomic>

#include "engine/job/verification.h"
#include "engine/run/executor.h"
#include "engine/run/one_device.h"
#include "hios/base/error.h"
#include "hios/evaluate/validate.h"
#include "support/expect_error.h"
#include "support/fakes/fake_async_backend.h"
#include "support/graphs/cold_cases.h"
#include "support/networks/as_alone.h"
#include "support/networks/random_network.h"
#include "support/transports/device_ranks.h"

namespace hios {
namespace {

using test::DeviceRanks;
using test::FakeAccelerator;
using test::FakeAsyncBackend;
using test::FakeBackend;
using test::FakeOptions;
using test::RandomNetwork;
using Outputs = std::vector<std::vector<std::byte>>;

RandomNetwork network_with_parameters(std::size_t operators, std::uint64_t seed) {
  return test::with_parameters(test::random_network(operators, seed));
}

Outputs outputs_with_parameters(const RandomNetwork& network) {
  FakeBackend oracle;
  oracle.with_parameters = true;
  SeededSource source(7);
  return test::evaluate_alone(network.coarse, network.model, oracle, source);
}

/// How loads are planned in a test.
struct LoadStyle {
  std::size_t lanes = 1;
  bool load_first = false;
  bool in_place = false;  // operators that are alone in their stage, every second of them
  bool evicts = false;    // what is loaded, after its operator
};

/// Lets each device load its own parameters from host memory, in the order of use.
void add_own_loads(const Graph& graph, const LoadStyle& style, Schedule& schedule) {
  Weights& weights = schedule.weights.emplace();
  weights.load_first = style.load_first;
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    std::vector<Lane> lanes(style.lanes);
    std::size_t number = 0;
    for (const Stage& stage : schedule.devices[d]) {
      const bool alone = stage.groups.size() == 1 && stage.groups[0].size() == 1;
      for (const Group& group : stage.groups) {
        for (const OpId op : group) {
          if (graph.op(op).parameter_bytes == 0) continue;
          if (style.in_place && alone && ++number % 2 == 0) {
            weights.in_place.push_back({op, StoreId(0)});
            continue;
          }
          lanes[op.index() % style.lanes].push_back({op, StoreId(0), DeviceId(d)});
          if (style.evicts) weights.evictions.push_back({op, DeviceId(d), op});
        }
      }
    }
    weights.lanes.insert(weights.lanes.end(), lanes.begin(), lanes.end());
  }
}

/// Cold, resident and recorded inferences give the bits; and where parameters were forgotten and
/// not loaded, they do not.
void expect_cold_bits(mpi::Transport& transport, FakeAccelerator* device, bool records,
                      const RandomNetwork& network, const Schedule& schedule,
                      const Outputs& expected) {
  const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
  const auto backend = test::backend_on(device, records);
  backend->with_parameters = true;
  SeededSource source(7);
  Executor executor({network.coarse, network.model, *backend, transport, source}, plan,
                    {.overwrites_evicted = true});
  for (int iteration = 0; iteration < 4; ++iteration) {
    executor.record_stages(iteration % 2 == 1);
    executor.forget_parameters();
    transport.barrier();
    if (iteration == 2) {
      EXPECT_GE(executor.load_alone(), 0);
      executor.start(Start::kResident);
    }
    backend->poison_tensors();
    transport.barrier();
    executor.run_once();
    test::expect_outputs(executor, plan, network, {}, expected, iteration);
    if (iteration == 1) {
      std::size_t loads = 0;
      for (const auto& lane : plan.lanes) loads += lane.size();
      EXPECT_EQ(executor.timeline().loads.size(), loads);
    }
    executor.start(Start::kCold);
    EXPECT_EQ(backend->recording_refused(), "");
  }
  executor.close();
}

DeviceRanks setting_of(const test::RouteCase& routes, std::uint64_t seed) {
  DeviceRanks setting{routes};
  setting.seed = seed;
  setting.pace = seed % 5 == 3   ? FakeOptions::Pace::kLazy
                 : seed % 5 == 4 ? FakeOptions::Pace::kEager
                                 : FakeOptions::Pace::kRandom;
  return setting;
}

class DeviceLoadsTest : public testing::TestWithParam<test::RouteCase> {};

// One rank, whose loads are nodes of its recording, and two or three, whose messages divide the
// steps.
TEST_P(DeviceLoadsTest, RandomPlansGiveTheBitsOfAResidentRun) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = network_with_parameters(4 + seed % 16, seed);
    Schedule schedule =
        test::random_schedule(network.coarse.graph, 1 + seed % 3, 1 + seed % 2, seed);
    const bool one = schedule.devices.size() == 1;
    add_own_loads(network.coarse.graph,
                  {.lanes = 1 + seed % 2,
                   .load_first = one && seed % 4 == 3,
                   .in_place = seed % 3 == 0 || seed % 5 == 2,
                   .evicts = seed % 4 == 0},
                  schedule);
    const Outputs expected = outputs_with_parameters(network);
    test::run_device_ranks(schedule.devices.size(), setting_of(GetParam(), seed),
                           [&](mpi::Transport& transport, FakeAccelerator* device) {
                             expect_cold_bits(transport, device, seed % 3 != 2, network, schedule,
                                              expected);
                           });
  }
}

// Lanes over several ranks, loads from devices, ends that ranks report, evictions of what was sent.
TEST_P(DeviceLoadsTest, RanksThatExchangeLoadsGiveTheSameBits) {
  std::atomic<std::size_t> sends = 0, batons = 0, evictions = 0, reports = 0, in_place = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomNetwork network = network_with_parameters(4 + seed % 12, seed);
    const Graph& graph = network.coarse.graph;
    const std::size_t ranks = 1 + seed % 4;
    Schedule schedule = test::random_schedule(graph, ranks, 2, seed);
    const Platform platform = test::random_topology(ranks, 2, false, random);
    schedule.weights = test::random_weights(graph, platform, schedule, 1 + random.below(4), random);
    const auto findings = validate(graph, platform, schedule);
    ASSERT_TRUE(findings.empty()) << findings.front().text;
    for (std::size_t r = 0; r < ranks; ++r) {
      const RankPlan plan = plan_rank(network.coarse, schedule, Rank(r));
      sends += plan.exchange.sends.size();
      batons += plan.exchange.batons_sent.size();
      reports += plan.exchange.reports_from.size();
      evictions += plan.evictions.size();
      in_place += plan.in_place.size();
    }
    const Outputs expected = outputs_with_parameters(network);
    test::run_device_ranks(ranks, setting_of(GetParam(), seed),
                           [&](mpi::Transport& transport, FakeAccelerator* device) {
                             expect_cold_bits(transport, device, seed % 3 != 2, network, schedule,
                                              expected);
                           });
  }
  EXPECT_GT(sends, 10u);
  EXPECT_GT(batons, 10u);
  EXPECT_GT(evictions, 10u);
  EXPECT_GT(reports, 0u);
  EXPECT_GT(in_place, 0u);
}

INSTANTIATE_TEST_SUITE_P(Routes, DeviceLoadsTest, testing::ValuesIn(test::device_route_cases()),
                         [](const auto& parameter) { return parameter.param.name; });

/// One rank with a device of its own, and a schedule whose loads come in the order of use.
struct OneColdDevice {
  explicit OneColdDevice(const LoadStyle& style = {}, const FakeOptions& options = {},
                         bool blocking = false)
      : schedule(test::random_schedule(network.coarse.graph, 1, 2, 3)),
        device(options),
        backend(device) {
    backend.with_parameters = true;
    add_own_loads(network.coarse.graph, style, schedule);
    plan = plan_rank(network.coarse, schedule, Rank(0));
    executor.emplace(RankContext{network.coarse, network.model, backend, *transport, source}, plan,
                     ExecutorOptions{.blocking = blocking});
  }
  void expect_bits() const {
    test::expect_outputs(*executor, plan, network, {}, outputs_with_parameters(network), 0);
  }

  RandomNetwork network = network_with_parameters(20, 3);
  Schedule schedule;
  RankPlan plan;
  FakeAccelerator device;
  FakeAsyncBackend backend;
  SeededSource source{7};
  std::unique_ptr<mpi::Transport> transport = mpi::make_serial_transport();
  std::optional<Executor> executor;
};

TEST(DeviceLoadsAlone, AreNodesOfOneRecording) {
  OneColdDevice one;
  EXPECT_EQ(one.backend.recordings, 1u);
  const std::size_t before = one.device.synchronizations();
  for (int i = 0; i < 3; ++i) one.executor->run_once();
  EXPECT_EQ(one.backend.replays, 3u);
  EXPECT_EQ(one.device.synchronizations() - before, 3u) << "once an iteration";
  one.executor->start(Start::kResident);
  EXPECT_EQ(one.backend.recordings, 2u) << "one more, without loads";
  one.executor->run_once();
  one.executor->start(Start::kCold);
  one.executor->start(Start::kResident);
  EXPECT_EQ(one.backend.recordings, 2u);
  EXPECT_EQ(one.backend.replays, 4u);
  one.expect_bits();
}

TEST(DeviceLoadsAlone, ForgottenParametersShow) {
  OneColdDevice one;
  one.executor->start(Start::kResident);
  one.executor->forget_parameters();
  one.executor->run_once();
  const OpId output = one.plan.outputs.front();
  const auto wrong = one.executor->output(output);
  one.executor->load_alone();
  one.executor->run_once();
  EXPECT_NE(one.executor->output(output), wrong);
  one.expect_bits();
}

TEST(DeviceLoadsAlone, BlockingComputesTheSame) {
  OneColdDevice one({.lanes = 2}, {}, /*blocking=*/true);
  one.executor->forget_parameters();
  one.executor->run_once();
  EXPECT_EQ(one.backend.recordings, 0u);
  one.expect_bits();
}

// With all loads first, nothing waits for an inner one, and the order of loading is that of
// binding.
TEST(DeviceLoadsAlone, LoadsThatAllComeFirstAreOneCopy) {
  OneColdDevice one({.load_first = true});
  ASSERT_GT(one.plan.lanes.at(0).size(), 10u);
  one.executor->forget_parameters();
  const std::size_t before = one.device.copies();
  one.executor->run_once();
  EXPECT_EQ(one.device.copies() - before, 1u);
  one.expect_bits();
}

TEST(DeviceLoadsAlone, ClocksOfLoadsAreTheDevices) {
  OneColdDevice one({.lanes = 2});
  one.executor->record_stages(true);
  one.executor->forget_parameters();
  one.executor->run_once();
  const RankTimeline timeline = one.executor->timeline();
  for (const LoadTimes& load : timeline.loads) {
    EXPECT_LE(load.ready_ms, load.start_ms);
    EXPECT_LE(load.start_ms, load.end_ms);
  }
  for (const Step& step : one.plan.steps) {
    const auto* const wait = std::get_if<AwaitLoad>(&step);
    if (!wait) continue;
    const StageTimes& stage = one.executor->clocks().stages[wait->stage];
    EXPECT_LE(stage.ready_ms, stage.start_ms);
  }
}

TEST(DeviceLoadsAlone, PinnedMemoryThatIsRefusedIsNamed) {
  FakeOptions options;
  options.pinned_bytes = 64;
  test::expect_error<RunError>([&] { OneColdDevice({}, options); },
                               {"no pinned memory for the kept parameters of rank 0: ", " bytes"});
}

TEST(DeviceLoadsAlone, ADeviceThatMapsNoHostMemoryReadsNothingInPlace) {
  const RandomNetwork network = network_with_parameters(6, 1);
  const auto order = network.coarse.graph.topological();
  Schedule schedule{{one_operator_stages({order.begin(), order.end()})}};
  add_own_loads(network.coarse.graph, {.in_place = true}, schedule);
  const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
  ASSERT_FALSE(plan.in_place.empty());
  FakeAccelerator device;
  FakeAsyncBackend backend(device);
  backend.with_parameters = true;
  backend.no_reads_in_place = "it maps no host memory";
  SeededSource source(7);
  const auto transport = mpi::make_serial_transport();
  test::expect_error(
      [&] {
        Executor({network.coarse, network.model, backend, *transport, source}, plan);
      },
      {"cannot read the parameters of op_", " in place: it maps no host memory; plan loads"});
}

}  // namespace
}  // namespace hios
