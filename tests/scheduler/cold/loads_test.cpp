#include "scheduler/cold/loads.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/cold/cold_start_bound.h"
#include "scheduler/cold/search/cold_plan.h"
#include "scheduler/registry.h"
#include "support/expect_error.h"

namespace hios::scheduler {
namespace {

constexpr Bytes kMegabyte = 1'000'000;

Operator reader(std::string name, double ms, Bytes parameters, std::string label = {}) {
  Operator op;
  op.name = std::move(name);
  op.time_ms = ms;
  op.has_time = true;
  op.parameter_bytes = parameters;
  op.parameters = std::move(label);
  return op;
}

/// A chain a → b → c, in which a and c share 2 MB of parameters, and b has 4 MB.
Graph chain() {
  return Graph("chain",
               {reader("a", 1, 2 * kMegabyte, "tied"), reader("b", 1, 4 * kMegabyte),
                reader("c", 3, 2 * kMegabyte, "tied")},
               {{OpId(0), OpId(1), 0, 0.0, {}}, {OpId(1), OpId(2), 0, 0.0, {}}});
}

std::vector<Device> two_devices() {
  std::vector<Device> devices(2);
  devices[0].name = "gpu0";
  devices[1].name = "gpu1";
  for (Device& device : devices) device.kind = "gpu";
  return devices;
}

/// Two devices; a megabyte takes 1 ms from memory to each of them, and 2 ms from the disk.
Platform platform() {
  return Platform(two_devices(), {{"disk", "", StoreKind::kDisk}, {"dram", "", StoreKind::kMemory}},
                  {{"pcie0", 1}, {"pcie1", 1}, {"nvme", 0.5}},
                  {{StoreId(0), DeviceId(0), {BusId(2), BusId(0)}, 0, 100},
                   {StoreId(1), DeviceId(0), {BusId(0)}, 0, 100},
                   {StoreId(1), DeviceId(1), {BusId(1)}, 0, 100},
                   {DeviceId(0), DeviceId(1), {}, 0, 100},
                   {DeviceId(1), DeviceId(0), {}, 0, 100}});
}

Schedule in_order_on(DeviceId device) {
  Schedule schedule;
  schedule.devices.resize(2);
  schedule.devices[device.index()] = one_operator_stages({OpId(0), OpId(1), OpId(2)});
  return schedule;
}

TEST(Loads, ComeInTheOrderOfTheirFirstUseFromTheNearestStore) {
  const Schedule cold = with_loads(in_order_on(DeviceId(0)), chain(), platform());
  const std::vector<Lane> lanes = {
      {{OpId(0), StoreId(1), DeviceId(0)}, {OpId(1), StoreId(1), DeviceId(0)}}};
  ASSERT_TRUE(cold.weights);
  EXPECT_EQ(cold.weights->lanes, lanes);
  EXPECT_FALSE(cold.weights->load_first);
  EXPECT_TRUE(validate(chain(), platform(), cold, Objective::kColdStart).empty());
}

TEST(Loads, EachDeviceLoadsItsOwnCopyByALaneOfItsOwn) {
  Schedule schedule;
  schedule.devices = {one_operator_stages({OpId(0), OpId(1)}), one_operator_stages({OpId(2)})};
  const Schedule cold = with_loads(schedule, chain(), platform(), LoadOrder::kLoadFirst);
  ASSERT_EQ(cold.weights->lanes.size(), 2u);
  EXPECT_EQ(cold.weights->lanes[1], (Lane{{OpId(2), StoreId(1), DeviceId(1)}}));
  EXPECT_TRUE(cold.weights->load_first);
}

TEST(Loads, ADeviceWithoutARouteIsRefusedByName) {
  const Platform one(two_devices(), {{"dram", "", StoreKind::kMemory}}, {},
                     {{StoreId(0), DeviceId(1), {}, 0, 1}});
  test::expect_error<InputError>(
      [&] { with_loads(in_order_on(DeviceId(0)), chain(), one); },
      {"no route leads from a store to 'gpu0', which needs the parameters of 'a'"});
}

// gpu1 runs b when a, 1 ms of gpu0, has ended; loads of 1 MB take 1 ms alone. Side by side they
// would end at 2 ms both; a's comes first, and both operators have ended 1 ms after b's load.
TEST(Loads, DevicesThatShareABusLoadInTheOrderOfStarts) {
  const Graph graph("two", {reader("a", 1, kMegabyte), reader("b", 1, kMegabyte)},
                    {{OpId(0), OpId(1), 0, 0.0, {}}});
  const Platform shared(two_devices(), {{"dram", "", StoreKind::kMemory}}, {{"pcie", 1}},
                        {{StoreId(0), DeviceId(0), {BusId(0)}, 0, 100},
                         {StoreId(0), DeviceId(1), {BusId(0)}, 0, 100},
                         {DeviceId(0), DeviceId(1), {}, 0, 100},
                         {DeviceId(1), DeviceId(0), {}, 0, 100}});
  const CostModel costs = CostModel::from_graph(graph, shared);
  Schedule schedule;
  schedule.devices = {one_operator_stages({OpId(0)}), one_operator_stages({OpId(1)})};
  const Schedule own = with_loads(schedule, graph, shared);
  const Schedule together = with_shared_lanes(schedule, graph, costs);
  EXPECT_EQ(together.weights->lanes, (std::vector<Lane>{{{OpId(0), StoreId(0), DeviceId(0)},
                                                         {OpId(1), StoreId(0), DeviceId(1)}}}));
  EXPECT_NEAR(simulate(graph, own, costs).latency_ms, 4, 1e-6);
  EXPECT_NEAR(simulate(graph, together, costs).latency_ms, 3, 1e-6);
  EXPECT_TRUE(validate(graph, shared, together, Objective::kColdStart).empty());
}

TEST(Loads, DevicesWithBusesOfTheirOwnKeepTheirLanes) {
  Schedule schedule;
  schedule.devices = {one_operator_stages({OpId(0), OpId(1)}), one_operator_stages({OpId(2)})};
  const Graph graph = chain();
  const Platform own = platform();
  const CostModel costs = CostModel::from_graph(graph, own);
  EXPECT_EQ(with_shared_lanes(schedule, graph, costs).weights,
            with_loads(schedule, graph, own).weights);
}

TEST(Loads, DevicesWhoseCoresCopyKeepTheirLanesAndPassNothingOn) {
  const Graph graph("two", {reader("a", 1, kMegabyte), reader("b", 1, kMegabyte)},
                    {{OpId(0), OpId(1), 0, 0.0, {}}});
  double Route::*const kNothing = nullptr;
  for (double Route::*const sign :
       {kNothing, &Route::slowdown, &Route::load_slowdown, &Route::start_ms}) {
    const bool copied = sign != nullptr;
    std::vector<Route> routes = {{StoreId(0), DeviceId(0), {BusId(0)}, 0, 100},
                                 {StoreId(0), DeviceId(1), {BusId(0)}, 0, 100},
                                 {DeviceId(0), DeviceId(1), {}, 0, 100},
                                 {DeviceId(1), DeviceId(0), {}, 0, 100}};
    for (Route& route : routes) {
      if (copied) route.*sign = 1.5;
    }
    const Platform shared(two_devices(), {{"dram", "", StoreKind::kMemory}}, {{"pcie", 1}},
                          std::move(routes));
    const CostModel costs = CostModel::from_graph(graph, shared);
    Schedule schedule;
    schedule.devices = {one_operator_stages({OpId(0)}), one_operator_stages({OpId(1)})};
    EXPECT_EQ(with_shared_lanes(schedule, graph, costs).weights->lanes.size(), copied ? 2u : 1u);
    const cold::PlanProblem problem(costs);
    EXPECT_EQ(problem.relays(DeviceId(1)).empty(), copied);
    EXPECT_EQ(problem.sharing(DeviceId(1)), DeviceId(copied ? 1 : 0));
  }
}

ScheduleResult run(const std::string& name, const Graph& graph, const Platform& platform) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Algorithm& algorithm = built_in().find(name);
  return algorithm.run(Problem(costs, Objective::kColdStart), Options(algorithm.options), {});
}

// 6 MB at 1 GB/s take 6 ms, and the operators 5 ms. Pipelined: a at 2 ms, b at 6 ms, c at 7 ms.
TEST(ColdStarts, OneDeviceLoadsFirstOrWhileItRuns) {
  const ScheduleResult first = run("load-then-run", chain(), platform());
  EXPECT_NEAR(first.latency_ms, 11, 1e-6);
  const ScheduleResult meanwhile = run("pipelined", chain(), platform());
  EXPECT_NEAR(meanwhile.latency_ms, 10, 1e-6);
  EXPECT_EQ(meanwhile.schedule.devices[1].size(), 0u);
}

TEST(ColdStarts, TakeTheDeviceOnWhichTheyAreShortest) {
  const Platform unlike(two_devices(), {{"dram", "", StoreKind::kMemory}}, {{"x4", 1}, {"x16", 4}},
                        {{StoreId(0), DeviceId(0), {BusId(0)}, 0, 100},
                         {StoreId(0), DeviceId(1), {BusId(1)}, 0, 100},
                         {DeviceId(0), DeviceId(1), {}, 0, 100},
                         {DeviceId(1), DeviceId(0), {}, 0, 100}});
  EXPECT_EQ(run("pipelined", chain(), unlike).schedule.devices[0].size(), 0u);
}

// 6 MB leave the stores over 1 GB/s each way, 2 GB/s in all; the least rest after a load is b's.
TEST(ColdStarts, TheBoundOfLoadsCountsEachSetOnceAndTheLeastRest) {
  const Graph graph = chain();
  const Platform here = platform();
  const CostModel costs = CostModel::from_graph(graph, here);
  const LowerBound loads = cold_start_bounds(graph, costs).front();
  EXPECT_EQ(loads.name, "loads");
  // The cuts are {nvme, pcie0, pcie1} and {pcie0, pcie1}: 2 GB/s; c is the last to start.
  EXPECT_NEAR(loads.ms, 3 + 3, 1e-6);
  const std::vector<Resident> resident = {{OpId(1), DeviceId(0)}};
  EXPECT_NEAR(cold_start_bounds(graph, costs, resident).front().ms, 1 + 3, 1e-6);
  // b's 4 MB take 4 ms over any route, and then b and c run.
  EXPECT_NEAR(cold_start_bound(graph, costs).ms, 4 + 1 + 3, 1e-6);
  // With b and the shared set on devices, what is left is the bound for resident parameters.
  const std::vector<Resident> all = {{OpId(0), DeviceId(0)}, {OpId(1), DeviceId(0)}};
  const LowerBound resident_bound = lower_bound(graph, costs);
  EXPECT_EQ(cold_start_bound(graph, costs, {}, all).ms, resident_bound.ms);
  EXPECT_EQ(cold_start_bound(graph, costs, {}, all).name, resident_bound.name);
}

TEST(ColdStarts, AnOperatorFasterInPlaceIsRefused) {
  Operator op = reader("a", 2, kMegabyte);
  op.in_place_ms = 1;
  const Graph graph("one", {op}, {});
  const Platform here = platform();
  const CostModel costs = CostModel::from_graph(graph, here);
  test::expect_error<InputError>([&] { cold_start_bound(graph, costs); },
                                 {"operator 'a' takes less on 'gpu0' in place"});
}

}  // namespace
}  // namespace hios::scheduler
