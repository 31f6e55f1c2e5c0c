// Whole jobs on emulated machines: the real plan, executor, loader threads and messages, whose
// outputs are digests. A wrong order, a missing load or a wrong message is another digest than that
// of one rank which has all parameters.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/emulated/backend.h"
#include "engine/emulated/emulated_case.h"
#include "engine/emulated/transport.h"
#include "engine/job/run_job.h"
#include "engine/run/executor.h"
#include "hios/evaluate/simulate.h"
#include "support/expect_error.h"
#include "support/graphs/cold_cases.h"
#include "support/schema.h"
#include "support/transports/forwarding_transport.h"
#include "support/transports/thread_transport.h"

namespace hios::job {
namespace {

/// The latency of a case in these tests, by its time scale.
constexpr double kLatencyMs = 2;

RunInputs emulated_case(const test::ColdCase& cold) {
  const CostModel costs = CostModel::from_graph(cold.graph, cold.platform);
  const double latency_ms = simulate(cold.graph, cold.schedule, costs).latency_ms;
  return test::emulated_inputs(cold, latency_ms > 0 ? kLatencyMs / latency_ms : 1);
}

void expect_verified(const RunInputs& inputs, const RunOptions& options) {
  test::run_ranks(inputs.schedule.devices.size(), [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    RunJob job(watch, inputs, options);
    const RunResults results = job.run();
    ASSERT_TRUE(results.verified);
    EXPECT_TRUE(results.verified->bitwise()) << results.verified->first_unequal;
    EXPECT_EQ(results.verified->operators, inputs.network.coarse.graph.size());
    ASSERT_TRUE(results.predicted);
    ASSERT_TRUE(results.measured);
    const Report report = make_report(inputs, options, job.setup(), results);
    const Json json = to_json(report, inputs.network.coarse.graph);
    test::expect_meets_schema(json);
    EXPECT_EQ(json["protocol"]["emulated"]["time_scale"], inputs.machine->time_scale);
    EXPECT_EQ(json["protocol"]["executor"], options.any_order ? "ready" : "fifo");
    EXPECT_EQ(json["digests"]["machine"],
              emulated::digest_of_times(*inputs.machine, inputs.schedule.schedule));
  });
}

TEST(EmulatedJob, RandomColdStartsGiveTheDigestsOfOneRank) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const test::ColdCase cold = test::random_cold_case({}, random);
    expect_verified(emulated_case(cold), test::emulated_options(Verify::kOperators));
  }
}

TEST(EmulatedJob, StagesInAnyOrderGiveTheDigestsOfOneRank) {
  RunOptions options = test::emulated_options(Verify::kOperators);
  options.any_order = true;
  for (std::uint64_t seed = 30; seed <= 37; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    expect_verified(emulated_case(test::random_cold_case({}, random)), options);
  }
}

TEST(EmulatedJob, ResidentSchedulesRunToo) {
  for (std::uint64_t seed = 50; seed <= 53; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    test::ColdCase cold = test::random_cold_case({}, random);
    cold.schedule.weights.reset();
    expect_verified(emulated_case(cold), test::emulated_options(Verify::kOperators));
  }
}

/// A chain a, b on one device, whose parameters differ and come from memory.
test::ColdCase chain(Precision precision = Precision::kFp32) {
  Operator a, b;
  a.name = "a";
  b.name = "b";
  for (Operator* const op : {&a, &b}) {
    op->time_ms = 0.1;
    op->has_time = true;
    op->memory_bytes = 100;
    op->parameter_bytes = 1000;
  }
  test::ColdCase cold;
  cold.graph = Graph("chain", {a, b}, {{OpId(0), OpId(1), 100, {}}});
  Device device;
  device.name = "gpu0";
  device.kind = "gpu";
  device.precision = precision;
  cold.platform = Platform({device}, {{"dram", "", StoreKind::kMemory}}, {{"bus", 1}},
                           {{StoreId(0), DeviceId(0), {BusId(0)}, 0.01, 1}});
  cold.schedule.devices = {one_operator_stages({OpId(0), OpId(1)})};
  cold.schedule.weights =
      Weights{.lanes = {{{OpId(0), StoreId(0), DeviceId(0)}, {OpId(1), StoreId(0), DeviceId(0)}}}};
  return cold;
}

TEST(EmulatedJob, DevicesOfEveryPrecisionHoldDigests) {
  for (const Precision precision : kPrecisions) {
    SCOPED_TRACE(to_string(precision));
    expect_verified(emulated_case(chain(precision)), test::emulated_options(Verify::kOperators));
  }
}

TEST(EmulatedExecutor, ParametersThatWereNotLoadedShow) {
  const RunInputs inputs = emulated_case(chain());
  test::run_ranks(1, [&](mpi::Transport& transport) {
    emulated::Emulation emulation(transport, *inputs.machine, inputs.schedule.schedule);
    const auto backend = emulated::make_backend(&emulation, Precision::kFp32);
    SeededSource source(7);
    const CoarseGraph& coarse = inputs.network.coarse;
    const RankPlan plan = plan_rank(coarse, inputs.schedule.schedule, Rank(0));
    ExecutorOptions options;
    options.loads.pace = &emulation;
    Executor executor({coarse, inputs.network.model, *backend, transport, source}, plan, options);
    executor.start(Start::kResident);
    executor.run_once();
    const std::vector<float> expected = executor.output(OpId(1));
    executor.forget_parameters();
    executor.run_once();
    EXPECT_NE(executor.output(OpId(1)), expected);
    executor.start(Start::kCold);
    executor.run_once();
    EXPECT_EQ(executor.output(OpId(1)), expected);
    EXPECT_EQ(emulation.queue().ended(emulation.flows().load(0, 1)), 1u);
  });
}

TEST(EmulatedBackend, AnOtherInputOrAnOtherOrderIsAnotherDigest) {
  const RunInputs inputs = emulated_case(chain());
  test::run_ranks(1, [&](mpi::Transport& transport) {
    emulated::Emulation emulation(transport, *inputs.machine, inputs.schedule.schedule);
    emulation.pass_time(false);
    const auto backend = emulated::make_backend(&emulation, Precision::kFp32);
    SeededSource source(7);
    std::vector<float> one(emulated::kDigestValues, 1), two(emulated::kDigestValues, 2);
    const auto digest = [&](const char* name, std::vector<const std::vector<float>*> read) {
      std::vector<const std::byte*> bytes;
      for (const auto* const each : read)
        bytes.push_back(reinterpret_cast<const std::byte*>(each->data()));
      std::vector<float> output(emulated::kDigestValues);
      const Operation operation{nullptr, nullptr, name, ""};
      backend->bind(operation, bytes, reinterpret_cast<std::byte*>(output.data()), {}, source)
          ->run();
      return output;
    };
    const std::vector<float> expected = digest("a", {&one, &two});
    EXPECT_EQ(digest("a", {&one, &two}), expected);
    EXPECT_NE(digest("a", {&two, &one}), expected);
    EXPECT_NE(digest("b", {&one, &two}), expected);
    one.back() = 3;
    EXPECT_NE(digest("a", {&one, &two}), expected);
  });
}

/// A rank that has a host to itself.
class AloneOnHost final : public test::ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  std::size_t local_rank() const override { return 0; }
  std::size_t local_size() const override { return 1; }
};

TEST(EmulatedJob, RanksOfTwoHostsAreRefused) {
  Random random(1);
  test::ColdCase cold = test::random_cold_case({}, random);
  while (cold.schedule.devices.size() < 2) cold = test::random_cold_case({}, random);
  const RunInputs inputs = emulated_case(cold);
  const auto run = [&] {
    test::run_ranks(inputs.schedule.devices.size(), [&](mpi::Transport& transport) {
      AloneOnHost alone(transport);
      Watch watch(alone, 0);
      RunJob(watch, inputs, test::emulated_options(Verify::kNo));
    });
  };
  test::expect_error(run, {"all its ranks on one host"});
}

TEST(EmulatedMachine, RefusesWhatItCannotEmulate) {
  const test::ColdCase cold = chain();
  Operator untimed = cold.graph.op(OpId(0));
  untimed.has_time = false;
  test::expect_error([&] { emulated::machine_of(Graph("g", {untimed}, {}), cold.platform, 1); },
                     {"operator a has no time_ms"});
  const Platform links({cold.platform.devices().front()});
  test::expect_error([&] { emulated::machine_of(cold.graph, links, 1); },
                     {"the platform has no routes"});
  Route slow{StoreId(0), DeviceId(0), {}, 0, 1};
  slow.slowdown = 2;
  const Platform slowing({cold.platform.devices().front()}, {{"dram", "", StoreKind::kMemory}}, {},
                         {slow});
  test::expect_error([&] { emulated::machine_of(cold.graph, slowing, 1); },
                     {"routes with start_ms, slowdown or load_slowdown"});
  std::vector<Device> copying(cold.platform.devices().begin(), cold.platform.devices().end());
  copying.front().io_charge = IoCharge{0, 0.5};
  test::expect_error(
      [&] { emulated::machine_of(cold.graph, cold.platform.with_devices(copying), 1); },
      {"an io_charge with receive above 0"});
  const Graph several("g", {cold.graph.op(OpId(0))}, {}, {}, 4);
  test::expect_error([&] { emulated::machine_of(several, cold.platform, 1); },
                     {"the graph counts several inputs"});
}

TEST(EmulatedMachine, RefusesTimesThatNoClockHas) {
  test::ColdCase cold = chain();
  Operator slow = cold.graph.op(OpId(0));
  slow.time_ms = 1e4;
  const Graph graph("g", {slow}, {});
  test::expect_error([&] { emulated::machine_of(graph, cold.platform, 1e6); },
                     {"operator a would have 1e+10 ms", "a smaller time scale"});
  emulated::machine_of(graph, cold.platform, 1e5);
  const auto on_bus = [&](double gb_per_s) {
    return Platform({cold.platform.devices().front()}, {{"dram", "", StoreKind::kMemory}},
                    {{"bus", gb_per_s}}, {{StoreId(0), DeviceId(0), {BusId(0)}, 0.01, 1}});
  };
  test::expect_error([&] { emulated::machine_of(cold.graph, on_bus(0.0005), 1e6); },
                     {"bus bus would have", "a smaller time scale"});
  test::expect_error([&] { emulated::machine_of(cold.graph, on_bus(1e4), 1e-6); },
                     {"bus bus would have", "a larger time scale"});
}

}  // namespace
}  // namespace hios::job
