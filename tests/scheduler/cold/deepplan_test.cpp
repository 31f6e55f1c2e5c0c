#include "scheduler/cold/deepplan/deepplan.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/cold/pipelined.h"
#include "scheduler/registry.h"
#include "support/expect_error.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"

namespace hios::scheduler {
namespace {

constexpr Bytes kTwoMegabytes = 2'000'000;

/// A chain of four operators of 1 ms with 2 MB each.
Graph chain_of_four() {
  std::vector<Operator> operators(4);
  std::vector<Edge> edges;
  for (std::size_t v = 0; v < operators.size(); ++v) {
    operators[v].name = std::string(1, static_cast<char>('a' + v));
    operators[v].time_ms = 1;
    operators[v].has_time = true;
    operators[v].parameter_bytes = kTwoMegabytes;
    if (v > 0) edges.push_back({OpId(v - 1), OpId(v), 0, 0.0, {}});
  }
  return Graph("chain", std::move(operators), std::move(edges));
}

/// Two devices with a bus of their own from memory, 1 GB/s each, and a route of 10 GB/s from the
/// second to the first.
Platform two_buses(Bytes memory_of_second = 0) {
  std::vector<Device> devices(2);
  devices[0].name = "gpu0";
  devices[1].name = "gpu1";
  for (Device& device : devices) device.kind = "gpu";
  devices[1].memory_bytes = memory_of_second;
  return Platform(std::move(devices), {{"dram", "", StoreKind::kMemory}},
                  {{"pcie0", 1}, {"pcie1", 1}, {"nvlink", 10}},
                  {{StoreId(0), DeviceId(0), {BusId(0)}, 0, 100},
                   {StoreId(0), DeviceId(1), {BusId(1)}, 0, 100},
                   {DeviceId(1), DeviceId(0), {BusId(2)}, 0, 100},
                   {DeviceId(0), DeviceId(1), {}, 0, 0.001}});
}

ScheduleResult run_deepplan(const Graph& graph, const Platform& platform,
                            const std::string& split) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  Options options(built_in().find("deepplan").options);
  options.set("split=" + split);
  return deepplan_schedule(Problem(costs, Objective::kColdStart), options, {});
}

// Over one bus a load ends at 2, 4, 6 and 8 ms.
TEST(DeepPlan, WithoutASplitAndTimesInPlaceItIsPipelined) {
  EXPECT_NEAR(run_deepplan(chain_of_four(), two_buses(), "none").latency_ms, 9, 1e-6);
}

// c and d are on the second device at 2 and 4 ms, and 0.2 ms later on the first.
TEST(DeepPlan, HalvesTravelOverTwoBusesAndTheSecondOn) {
  const ScheduleResult result = run_deepplan(chain_of_four(), two_buses(), "halves");
  EXPECT_NEAR(result.latency_ms, 7, 1e-6);
  const Holder dram = StoreId(0), second = DeviceId(1);
  const std::vector<Lane> lanes = {
      {{OpId(0), dram, DeviceId(0)}, {OpId(1), dram, DeviceId(0)}},
      {{OpId(2), dram, DeviceId(1)}, {OpId(3), dram, DeviceId(1)}},
      {{OpId(2), second, DeviceId(0)}, {OpId(3), second, DeviceId(0)}}};
  EXPECT_EQ(result.schedule.weights->lanes, lanes);
  EXPECT_TRUE(result.schedule.devices[1].empty());
}

// a and b are there at 2 and 2.2 ms, c and d at 4 and 4.2 ms.
TEST(DeepPlan, LoadsInTurnsBringTheNextOperatorsFirst) {
  EXPECT_NEAR(run_deepplan(chain_of_four(), two_buses(), "interleaved").latency_ms, 6, 1e-6);
}

TEST(DeepPlan, ASecondDeviceWithoutRoomPassesNothingOn) {
  const Platform full = two_buses(kTwoMegabytes);
  EXPECT_NEAR(run_deepplan(chain_of_four(), full, "halves").latency_ms, 9, 1e-6);
}

TEST(DeepPlan, AnUnknownSplitIsRefused) {
  test::expect_error<InputError>([] { run_deepplan(chain_of_four(), two_buses(), "thirds"); },
                                 {"split is none, halves or interleaved, not \"thirds\""});
}

/// The chain, in which one operator takes `ms` in place and reads `bytes`.
Graph with_in_place(std::size_t v, double ms, Bytes bytes) {
  const Graph chain = chain_of_four();
  std::vector<Operator> operators(chain.operators().begin(), chain.operators().end());
  operators[v].in_place_ms = ms;
  operators[v].in_place_bytes = bytes;
  return Graph("chain", std::move(operators), {chain.edges().begin(), chain.edges().end()});
}

// a reads 0.5 MB from 0 to 1.5 ms, meanwhile b's load gets the rest: it ends at 2.5 ms, c's at 4.5
// ms and d's at 6.5 ms.
TEST(DeepPlan, AnOperatorThatStallsReadsInPlace) {
  const ScheduleResult result = run_deepplan(with_in_place(0, 1.5, 500'000), two_buses(), "none");
  EXPECT_NEAR(result.latency_ms, 7.5, 1e-6);
  EXPECT_EQ(result.schedule.weights->in_place, (std::vector<ReadInPlace>{{OpId(0), StoreId(0)}}));
}

// d would stall until 8 ms; b ends at 3 ms then, and its load is out of the way.
TEST(DeepPlan, AnEarlierOperatorReadsInPlaceForALaterOne) {
  const ScheduleResult result = run_deepplan(with_in_place(1, 2, 100'000), two_buses(), "none");
  EXPECT_EQ(result.schedule.weights->in_place, (std::vector<ReadInPlace>{{OpId(1), StoreId(0)}}));
  EXPECT_LT(result.latency_ms, 7.2);
}

TEST(DeepPlan, AReadInPlaceThatLengthensThePlanIsNotTaken) {
  const ScheduleResult result = run_deepplan(with_in_place(3, 20, 2'000'000), two_buses(), "none");
  EXPECT_TRUE(result.schedule.weights->in_place.empty());
}

TEST(DeepPlan, IsValidAndNeverLongerThanPipelined) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "deepplan");
    const std::size_t operators = 1 + random.below(12);
    const Graph graph = test::with_parameters(
        test::random_graph(operators, random.uniform(0, 0.5), {}, random), false, random);
    const Platform platform = test::random_topology(1 + random.below(3), 1, false, random);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const Problem problem(costs, Objective::kColdStart);
    Context context;
    context.bound = LowerBound{0, "none"};
    const double pipelined_ms = pipelined(problem, {}, context).latency_ms;
    for (const char* split : {"none", "halves", "interleaved"}) {
      Options options(built_in().find("deepplan").options);
      options.set("split=" + std::string(split));
      const ScheduleResult result = deepplan_schedule(problem, options, context);
      EXPECT_TRUE(validate(graph, platform, result.schedule, Objective::kColdStart).empty());
      EXPECT_LE(result.latency_ms, pipelined_ms);
      EXPECT_EQ(result.latency_ms, simulate(graph, result.schedule, costs).latency_ms);
    }
  }
}

}  // namespace
}  // namespace hios::scheduler
