// Time passes in emulated runs, for operators, loads, messages and reads in place. None of these is
// shorter than planned, however busy the machine is, and longer ones prove nothing: so all bounds
// are lower ones. A whole inference may be shorter where flows share a bus: one that starts late
// leaves it to others.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/emulated/backend.h"
#include "engine/emulated/emulated_case.h"
#include "engine/job/run_job.h"
#include "engine/run/executor.h"
#include "hios/evaluate/cold/flow_stages.h"
#include "hios/evaluate/simulate.h"
#include "hios/graph/parameters.h"
#include "support/expect_error.h"
#include "support/graphs/cold_cases.h"
#include "support/transports/thread_transport.h"

namespace hios::job {
namespace {

constexpr double kRounding = 1 - 1e-3;
constexpr Bytes kMs = 1'000'000;  // bytes that a bus of 1 GB/s moves in a ms

Operator timed_operator(const char* name, double ms, Bytes parameter_bytes) {
  Operator op;
  op.name = name;
  op.time_ms = ms;
  op.has_time = true;
  op.memory_bytes = 10;
  op.parameter_bytes = parameter_bytes;
  return op;
}

/// A platform whose stores and devices share one bus of 1 GB/s.
Platform one_bus(std::size_t devices, Bytes memory_bytes = 0) {
  std::vector<Device> all;
  std::vector<Route> routes;
  for (std::size_t d = 0; d < devices; ++d) {
    Device& device = all.emplace_back();
    device.name = "gpu" + std::to_string(d);
    device.kind = "gpu";
    device.memory_bytes = memory_bytes;
    routes.push_back({StoreId(0), DeviceId(d), {BusId(0)}, 0, 1});
    for (std::size_t other = 0; other < devices; ++other) {
      if (other != d) routes.push_back({DeviceId(other), DeviceId(d), {BusId(0)}, 0, 1});
    }
  }
  return Platform(std::move(all), {{"dram", "", StoreKind::kMemory}}, {{"bus", 1}},
                  std::move(routes));
}

/// Returns the results of rank 0.
RunResults results_of(const RunInputs& inputs,
                      const RunOptions& options = test::emulated_options(Verify::kNo)) {
  RunResults first;
  test::run_ranks(inputs.schedule.devices.size(), [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    RunResults results = RunJob(watch, inputs, options).run();
    if (transport.rank() == Rank(0)) first = std::move(results);
  });
  return first;
}

void expect_at_least(const std::vector<double>& times_ms, double least_ms) {
  ASSERT_FALSE(times_ms.empty());
  for (const double ms : times_ms) EXPECT_GE(ms, least_ms * kRounding);
}

/// Two operators on one device, which wait for a load of 6 ms each.
test::ColdCase two_loads(bool in_two_lanes, Bytes memory_bytes = 0) {
  test::ColdCase cold;
  cold.graph = Graph("chain", {timed_operator("a", 3, 6 * kMs), timed_operator("b", 3, 6 * kMs)},
                     {{OpId(0), OpId(1), 10, {}}});
  cold.platform = one_bus(1, memory_bytes);
  cold.schedule.devices = {one_operator_stages({OpId(0), OpId(1)})};
  const Load first{OpId(0), StoreId(0), DeviceId(0)}, second{OpId(1), StoreId(0), DeviceId(0)};
  cold.schedule.weights =
      in_two_lanes ? Weights{.lanes = {{first}, {second}}} : Weights{.lanes = {{first, second}}};
  return cold;
}

TEST(EmulatedTimes, ColdStartsTakeTheirLoadsAndOperators) {
  for (const bool in_two_lanes : {false, true}) {
    const RunInputs inputs = test::emulated_inputs(two_loads(in_two_lanes));
    const RunResults results = results_of(inputs);
    ASSERT_TRUE(results.predicted && results.cold_walls);
    // A lane that begins late leaves the bus to the other: the first operator may start early then,
    // but the last load ends after the time of both, and an operator comes after it.
    expect_at_least(results.iterations_ms, 12 + 3);
    expect_at_least(results.cold_walls->resident_ms, 6);
    expect_at_least(results.cold_walls->load_ms, 12);  // they share the bus
    EXPECT_NEAR(results.predicted->latency_ms, in_two_lanes ? 18 : 15, 1e-6);
  }
}

TEST(EmulatedTimes, AMessageTakesItsTime) {
  test::ColdCase cold;
  cold.graph = Graph("pair", {timed_operator("a", 2, 0), timed_operator("b", 2, 0)},
                     {{OpId(0), OpId(1), 10 * kMs, {}}});
  cold.platform = one_bus(2);
  cold.schedule.devices = {one_operator_stages({OpId(0)}), one_operator_stages({OpId(1)})};
  // The producer's rank waits until its message has left.
  expect_at_least(results_of(test::emulated_inputs(cold)).iterations_ms, 12);
}

/// One operator that reads its parameters in place for 8 ms, and takes 1 ms where they are there.
test::ColdCase one_read() {
  Operator op = timed_operator("a", 1, 2 * kMs);
  op.in_place_ms = 8;
  test::ColdCase cold;
  cold.graph = Graph("one", {op}, {});
  cold.platform = one_bus(1);
  cold.schedule.devices = {one_operator_stages({OpId(0)})};
  cold.schedule.weights = Weights{};
  cold.schedule.weights->in_place = {{OpId(0), StoreId(0)}};
  return cold;
}

TEST(EmulatedTimes, AReadInPlaceIsAFlowOfColdInferencesAlone) {
  const RunInputs inputs = test::emulated_inputs(one_read());
  expect_at_least(results_of(inputs).iterations_ms, 8);
  test::run_ranks(1, [&](mpi::Transport& transport) {
    emulated::Emulation emulation(transport, *inputs.machine, inputs.schedule.schedule);
    const auto backend = emulated::make_backend(&emulation, Precision::kFp32);
    SeededSource source(7);
    const CoarseGraph& coarse = inputs.network.coarse;
    const RankPlan plan = plan_rank(coarse, inputs.schedule.schedule, Rank(0));
    ExecutorOptions options;
    options.loads.pace = &emulation;
    Executor executor({coarse, inputs.network.model, *backend, transport, source}, plan, options);
    const std::size_t read = emulation.flows().read(OpId(0)).value();
    executor.start(Start::kResident);
    executor.run_once();
    EXPECT_EQ(emulation.queue().ended(read), 0u);
    executor.start(Start::kCold);
    executor.run_once();
    EXPECT_EQ(emulation.queue().ended(read), 1u);
  });
}

TEST(EmulatedTimes, TheLongestWaitIsTwiceTheSumOfAllTimes) {
  for (const double scale : {1.0, 3.0}) {
    const RunInputs inputs = test::emulated_inputs(two_loads(true), scale);
    test::run_ranks(1, [&](mpi::Transport& transport) {
      const emulated::Emulation emulation(transport, *inputs.machine, inputs.schedule.schedule);
      EXPECT_NEAR(emulation.longest_wait_ms(), 2 * 18 * scale, 1e-6);
    });
  }
}

// The loads take twice the time-out. The watchdog also adds the time of a load that nobody needs:
// more than a busy machine delays this run.
TEST(EmulatedTimes, LongLoadsAreNoHang) {
  constexpr double kScale = 20, kUnneededMs = 5'000;
  test::ColdCase cold = two_loads(false);
  cold.graph = Graph("chain",
                     {timed_operator("a", 3, 6 * kMs), timed_operator("b", 3, 6 * kMs),
                      timed_operator("c", 3, static_cast<Bytes>(kUnneededMs) * kMs)},
                     {{OpId(0), OpId(1), 10, {}}, {OpId(1), OpId(2), 10, {}}});
  cold.platform = one_bus(2);
  cold.schedule.devices = {one_operator_stages({OpId(0), OpId(1)}), one_operator_stages({OpId(2)})};
  cold.schedule.weights->resident = {{OpId(2), DeviceId(1)}};
  cold.schedule.weights->lanes.push_back({{OpId(2), StoreId(0), DeviceId(0)}});
  const RunInputs inputs = test::emulated_inputs(cold, kScale);
  test::run_ranks(2, [&](mpi::Transport& transport) {
    Watch watch(transport, Watch::kDefaultTimeoutSeconds, nullptr,
                [](const std::string& line) { ADD_FAILURE() << line; });
    RunOptions options = test::emulated_options(Verify::kNo);
    options.protocol.stop = [&watch] {
      watch.set_timeout(Watch::kDefaultTimeoutSeconds);
      return true;
    };
    RunJob job(watch, inputs, options);
    watch.set_timeout(6 * kScale / 1e3);
    const RunResults results = job.run();
    expect_at_least(results.iterations_ms, 12 * kScale);
  });
}

// One lane leads through both ranks, and the network through both and back. So all of it comes
// after the first rank's start, from which its clock counts.
TEST(EmulatedTimes, NothingOfAChainOverTwoRanksEndsBeforeItsSimulatedEnd) {
  constexpr double kScale = 3;
  test::ColdCase cold;
  cold.graph = Graph("there and back",
                     {timed_operator("a", 3, 6 * kMs), timed_operator("b", 3, 6 * kMs),
                      timed_operator("c", 3, 2 * kMs)},
                     {{OpId(0), OpId(1), 2 * kMs, {}}, {OpId(1), OpId(2), 2 * kMs, {}}});
  const Platform devices = one_bus(2);
  cold.platform = Platform({devices.devices().begin(), devices.devices().end()},
                           {{"dram", "", StoreKind::kMemory}}, {{"pcie", 1}, {"nvlink", 1}},
                           {{StoreId(0), DeviceId(0), {BusId(0)}, 0, 1},
                            {StoreId(0), DeviceId(1), {BusId(0)}, 0, 1},
                            {DeviceId(0), DeviceId(1), {BusId(1)}, 0, 1},
                            {DeviceId(1), DeviceId(0), {BusId(1)}, 0, 1}});
  cold.schedule.devices = {one_operator_stages({OpId(0), OpId(2)}), one_operator_stages({OpId(1)})};
  cold.schedule.weights = Weights{.lanes = {{{OpId(0), StoreId(0), DeviceId(0)},
                                             {OpId(1), StoreId(0), DeviceId(1)},
                                             {OpId(2), StoreId(0), DeviceId(0)}}}};
  const RunResults results = results_of(test::emulated_inputs(cold, kScale));
  ASSERT_TRUE(results.predicted && results.measured);
  const Timeline &simulated = *results.predicted, &measured = *results.measured;
  EXPECT_NEAR(simulated.latency_ms, 20 * kScale, 1e-6);
  expect_at_least(results.iterations_ms, simulated.latency_ms);
  ASSERT_EQ(measured.stages[0].size(), 2u);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    expect_at_least({measured.stages[0][stage].end_ms}, simulated.stages[0][stage].end_ms);
  }
  ASSERT_EQ(measured.loads.size(), 3u);
  for (const std::size_t load : {0u, 2u}) {  // the first rank's
    expect_at_least({measured.loads[load].end_ms}, simulated.loads[load].end_ms);
  }
}

TEST(EmulatedTimes, DeviceMemoryIsNotThatOfDigests) {
  test::ColdCase cold = two_loads(false, 100);
  cold.graph = Graph("small", {timed_operator("a", 1, 10), timed_operator("b", 1, 10)},
                     {{OpId(0), OpId(1), 10, {}}});
  expect_at_least(results_of(test::emulated_inputs(cold)).iterations_ms, 2);
}

Bytes held_parameters(const test::ColdCase& cold) {
  const RunInputs inputs = test::emulated_inputs(cold);
  Bytes held = 0;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    held = RunJob(watch, inputs, test::emulated_options(Verify::kNo))
               .setup()
               .ranks.front()
               .weights_bytes;
  });
  return held;
}

// The second load comes at 6 ms, and the first operator ends at 9 ms.
TEST(EmulatedTimes, ReportsHaveTheMostParametersHeldAtOnce) {
  test::ColdCase cold = two_loads(false);
  EXPECT_EQ(held_parameters(cold), 12 * kMs);
  cold.schedule.weights->evictions = {{OpId(0), DeviceId(0), OpId(0)}};
  EXPECT_EQ(held_parameters(cold), 12 * kMs);
  cold.platform = one_bus(1, 6 * kMs + 20);
  EXPECT_EQ(held_parameters(cold), 6 * kMs);
  cold.schedule.weights = Weights{.resident = {{OpId(0), DeviceId(0)}, {OpId(1), DeviceId(0)}}};
  cold.platform = one_bus(1);
  EXPECT_EQ(held_parameters(cold), 12 * kMs);
  EXPECT_EQ(held_parameters(one_read()), 0u);
  cold.schedule.weights.reset();
  EXPECT_EQ(held_parameters(cold), 12 * kMs);
}

TEST(EmulatedTimes, RanksThatEmulateOtherMachinesAreRefused) {
  test::ColdCase cold;
  cold.platform = one_bus(2);
  cold.schedule.devices = {one_operator_stages({OpId(0)}), one_operator_stages({OpId(1)})};
  const auto of = [&](double ms, double scale) {
    cold.graph = Graph("pair", {timed_operator("a", ms, 0), timed_operator("b", 2, 0)},
                       {{OpId(0), OpId(1), kMs, {}}});
    return test::emulated_inputs(cold, scale);
  };
  const RunInputs plain = of(1, 1), slower = of(1, 2), other = of(3, 1);
  const auto run = [&](const RunInputs& second) {
    test::run_ranks(2, [&](mpi::Transport& transport) {
      Watch watch(transport, 0);
      RunJob(watch, transport.rank() == Rank(0) ? plain : second,
             test::emulated_options(Verify::kNo));
    });
  };
  run(plain);
  test::expect_error([&] { run(slower); }, {"the time scale"});
  test::expect_error([&] { run(other); }, {"the emulated machine"});
}

TEST(EmulatedFlows, AreThoseOfTheSimulator) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const test::ColdCase cold = test::random_cold_case({}, random);
    const CostModel costs = CostModel::from_graph(cold.graph, cold.platform);
    const ParameterSets sets(cold.graph);
    const FlowPlan simulated = plan_flow_stages(cold.graph, cold.schedule, costs, &sets);
    const emulated::Machine machine{cold.graph, cold.platform, 1};
    const emulated::PlannedFlows flows(machine, costs, cold.schedule);
    std::size_t count = 0;
    const auto expect_equal = [&](std::size_t number, const Flows::Flow& expected) {
      ++count;
      const emulated::Flow& flow = flows[number];
      EXPECT_EQ(static_cast<double>(flow.size_bytes), expected.bytes);
      EXPECT_DOUBLE_EQ(flow.latency_ms, expected.latency_ms);
      if (flow.size_bytes == 0) return;
      EXPECT_DOUBLE_EQ(flow.most_bytes_per_ms, expected.gb_per_s * emulated::kBytesPerMsOfGb);
      EXPECT_TRUE(std::ranges::equal(flow.buses, expected.over, {}, {},
                                     [](BusId bus) { return bus.index(); }));
    };
    for (const FlowMessage& message : simulated.messages) {
      const auto number = flows.message(message.producer, message.to);
      ASSERT_TRUE(number);
      expect_equal(*number, message.flow);
    }
    for (std::size_t op = 0; op < cold.graph.size(); ++op) {
      const auto number = flows.read(OpId(op));
      const auto& stage = simulated.stages[simulated.stage_of[op]];
      ASSERT_EQ(number.has_value(), stage.read.has_value());
      if (number) expect_equal(*number, *stage.read);
    }
    std::size_t loads = 0;
    for (const auto& lane : cold.schedule.weights->lanes) loads += lane.size();
    EXPECT_EQ(flows.size(), count + loads);
  }
}

}  // namespace
}  // namespace hios::job
