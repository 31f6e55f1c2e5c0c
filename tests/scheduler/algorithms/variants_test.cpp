#include "scheduler/algorithms/variants.h"

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/algorithms/list/heft.h"
#include "scheduler/list/device_classes.h"
#include "scheduler/registry.h"
#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::d0;
using test::d1;
using test::d2;
using test::d3;
using Devices = std::vector<DeviceId>;

/// Two operators; gpu0 is slow, gpu1 and gpu3 are fast, gpu2 cannot run the second.
Graph unlike_graph() {
  const Graph plain = test::small_graph({1, 1}, {{1, 2, 3}});
  std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
  for (Operator& op : operators) op.time_by_device = {{"gpu0", 4}, {"gpu1", 1}, {"gpu2", 2}};
  for (Operator& op : operators) op.time_by_device["gpu3"] = 1;
  operators[1].allowed = {"gpu0", "gpu1", "gpu3"};
  return Graph("unlike", operators, {plain.edges().begin(), plain.edges().end()});
}

TEST(DeviceClasses, AreOfEqualTimesAndComeByThem) {
  const Graph graph = unlike_graph();
  const Platform platform = test::devices(4, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(device_classes(graph, costs), (std::vector<Devices>{{d1, d3}, {d0}, {d2}}));
  EXPECT_EQ(fastest_devices(graph, costs, 9), (std::vector<Devices>{{d1, d3}, {d1, d3, d0}}));
  EXPECT_EQ(fastest_devices(graph, costs, 1), (std::vector<Devices>{{d1, d3, d0}}));
  const Graph alike = test::small_graph({1, 2}, {});
  const CostModel same = CostModel::from_graph(alike, platform);
  EXPECT_EQ(device_classes(alike, same), (std::vector<Devices>{{d0, d1, d2, d3}}));
  EXPECT_TRUE(fastest_devices(alike, same, 4).empty());
}

TEST(CostModelOnly, LeavesTheOthersOutOfTimesAndMeans) {
  const Graph graph = unlike_graph();
  const Platform platform = test::devices(4, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const CostModel some = costs.only(Devices{d0, d1});
  EXPECT_EQ(some.operator_ms(OpId(0), d0), 4);
  EXPECT_FALSE(some.can_run(OpId(0), d2));
  EXPECT_EQ(some.mean_operator_ms(OpId(0)), 2.5);
  EXPECT_EQ(some.mean_transfer_ms(EdgeId(0)), 3);
  EXPECT_EQ(some.transfer_ms(EdgeId(0), d0, d1), 3);
  EXPECT_EQ(costs.only(Devices{d1}).mean_transfer_ms(EdgeId(0)), 0) << "nothing is sent";
  test::expect_error([&] { costs.only(Devices{d2}); }, {"v2", "no device"});
}

TEST(Variants, TheShortestCountsAndOnlyTheFirstMayRefuse) {
  const Graph graph = test::small_graph({1, 2}, {});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const auto on = [&](std::vector<OpId> first, std::vector<OpId> second) {
    return Variant([=](const CostModel&) {
      return TimedSchedule{{{one_operator_stages(first), one_operator_stages(second)}}, false};
    });
  };
  const Variant serial = on(test::v({1, 2}), {}), parallel = on(test::v({1}), test::v({2}));
  const Variant refuses = [](const CostModel&) -> TimedSchedule { throw InputError("no room"); };
  const auto latency = [&](const std::vector<Variant>& variants, bool late) {
    const TimedSchedule found =
        shortest(graph, costs, variants, true, Deadline([late] { return late; }));
    return simulate(graph, found.schedule, costs).latency_ms;
  };
  EXPECT_EQ(latency({serial, refuses, parallel}, false), 2);
  EXPECT_EQ(latency({parallel, serial}, false), 2);
  EXPECT_EQ(latency({serial, parallel}, true), 3) << "the first has run, and time is up";
  test::expect_error([&] { latency({refuses, serial}, false); }, {"no room"});
}

/// An additional slow device makes no list scheduler worse.
TEST(Variants, AnAdditionalSlowDeviceLengthensNoSchedule) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "slow device");
    const Graph plain = test::random_graph(25, 0.1, {}, random);
    std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
    for (Operator& op : operators) {
      op.time_by_device = {{"gpu", op.time_ms}, {"slow", 8 * op.time_ms}};
      op.has_time = false;
    }
    const Graph graph("slow", operators, {plain.edges().begin(), plain.edges().end()});
    const auto devices = [](bool more) {
      std::vector<Device> list = {{"gpu0", "gpu", 0, 1, 0, ""}, {"gpu1", "gpu", 0, 1, 0, ""}};
      if (more) list.push_back({"slow", "slow", 1, 1, 0, ""});
      return Platform(list);
    };
    for (const char* name : {"inter-lp", "hios-lp", "heft", "peft", "cluster"}) {
      const Algorithm& algorithm = built_in().find(name);
      const auto latency = [&](const Platform& platform) {
        const CostModel costs = CostModel::from_graph(graph, platform);
        return algorithm.run(Problem(costs), Options(algorithm.options), {}).latency_ms;
      };
      EXPECT_LE(latency(devices(true)), latency(devices(false)) * (1 + 1e-12)) << name;
    }
  }
}

}  // namespace
}  // namespace hios::scheduler
