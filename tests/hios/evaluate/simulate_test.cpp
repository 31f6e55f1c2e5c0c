#include "hios/evaluate/simulate.h"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/slow_simulator.h"

namespace hios {
namespace {

using test::d0;
using test::d1;
using test::stage;
using test::v1;

Timeline on_links(const Graph& graph, const Platform& platform, const Schedule& schedule) {
  return simulate(graph, schedule, CostModel::from_graph(graph, platform));
}

// gpu0: v1, then v2 in parallel with v4. gpu1: v3. v1 → v2, v1 → v3 (transfer 5), v3 → v4 (transfer
// 1).
TEST(Simulate, StagesWaitForDeviceAndInputs) {
  const Graph graph = test::small_graph({2, 3, 1, 4}, {{1, 2, 9}, {1, 3, 5}, {3, 4, 1}});
  const Schedule schedule{{{stage({{1}}), stage({{2}, {4}})}, {stage({{3}})}}};
  const Timeline timeline = on_links(graph, test::devices(2, 2), schedule);
  EXPECT_EQ(timeline.stages[0][0].start_ms, 0);
  EXPECT_EQ(timeline.stages[0][0].end_ms, 2);
  EXPECT_EQ(timeline.stages[1][0].ready_ms, 2 + 5);
  EXPECT_EQ(timeline.stages[1][0].end_ms, 8);
  EXPECT_EQ(timeline.stages[0][1].ready_ms, 9) << "v2 waits for the stage of v4";
  EXPECT_EQ(timeline.stages[0][1].awaited_ms, 2) << "from then on the device is free";
  EXPECT_EQ(timeline.stages[0][1].start_ms, 9);
  EXPECT_EQ(timeline.stages[0][1].end_ms, 9 + 3 + 4);
  EXPECT_EQ(timeline.latency_ms, 16);
}

TEST(Simulate, ADeviceIsBusyUntilItsStageEnds) {
  const Graph graph = test::small_graph({5, 1}, {});
  const Schedule schedule{{{stage({{1}}), stage({{2}})}}};
  const Timeline timeline = on_links(graph, test::devices(1, 1), schedule);
  EXPECT_EQ(timeline.stages[0][1].ready_ms, 0);
  EXPECT_EQ(timeline.stages[0][1].start_ms, 5);
}

TEST(Simulate, ATensorTravelsOnceToEachDevice) {
  const Graph graph =
      test::small_graph({2, 1, 1, 1}, {{1, 2, 3}, {1, 2, 3}, {1, 3, 3}, {1, 4, 3}, {2, 3, 8}});
  const Schedule schedule{{{stage({{1}})}, {stage({{2}}), stage({{3}})}, {stage({{4}})}}};
  const Timeline timeline = on_links(graph, test::devices(3, 1), schedule);
  ASSERT_EQ(timeline.transfers.size(), 2u);
  EXPECT_EQ(timeline.transfers[0].producer, v1);
  EXPECT_EQ(timeline.transfers[0].from, d0);
  EXPECT_EQ(timeline.transfers[0].to, d1);
  EXPECT_EQ(timeline.transfers[0].start_ms, 2);
  EXPECT_EQ(timeline.transfers[0].end_ms, 5);
  EXPECT_EQ(timeline.transfers[0].size_bytes, 1000u);
  EXPECT_EQ(timeline.transfers[1].to, DeviceId(2));
}

TEST(Simulate, ATransferLastsAsLongAsItsSlowestEdge) {
  for (const double first_ms : {3.0, 5.0}) {
    const Graph graph = test::small_graph({1, 1, 1}, {{1, 2, first_ms}, {1, 3, 8 - first_ms}});
    const Schedule schedule{{{stage({{1}})}, {stage({{2}}), stage({{3}})}}};
    const Platform platform = test::devices(2, 1);
    const Timeline timeline = simulate(graph, schedule, CostModel::from_graph(graph, platform));
    ASSERT_EQ(timeline.transfers.size(), 1u);
    EXPECT_EQ(timeline.transfers[0].end_ms, 1 + 5);
  }
}

// v1's consumers on gpu1 read its first and its last kilobyte, and v4 on gpu2 what lies between.
TEST(Simulate, ADeviceReceivesAllBytesFromTheFirstToTheLastThatItReads) {
  const Graph plain = test::small_graph({1, 1, 1, 1}, {{1, 2, 0}, {1, 3, 0}, {1, 4, 0}});
  std::vector<Edge> edges(plain.edges().begin(), plain.edges().end());
  const ByteRange ranges[] = {{0, 1000}, {3000, 4000}, {1000, 3000}};
  for (std::size_t e = 0; e < edges.size(); ++e) {
    edges[e].transfer_ms.reset();
    edges[e].range = ranges[e];
    edges[e].size_bytes = ranges[e].size();
  }
  const Graph graph("g", {plain.operators().begin(), plain.operators().end()}, std::move(edges));
  const Platform alike = test::devices(3, 1);
  const Schedule schedule{{{stage({{1}})}, {stage({{2}}), stage({{3}})}, {stage({{4}})}}};
  for (const Contention contention : {Contention::kNone, Contention::kLink}) {
    const Platform platform({alike.devices().begin(), alike.devices().end()}, {}, Link{0, 0.001},
                            {contention});
    const Timeline timeline = on_links(graph, platform, schedule);
    ASSERT_EQ(timeline.transfers.size(), 2u);
    EXPECT_EQ(timeline.transfers[0].size_bytes, 4000u);
    EXPECT_EQ(timeline.transfers[1].size_bytes, 2000u);
    EXPECT_EQ(timeline.stages[1][0].start_ms, 1 + 4);
    EXPECT_EQ(timeline.stages[2][0].start_ms, 1 + 2);
    const Schedule apart{{{stage({{1}}), stage({{3}})}, {stage({{2}})}, {stage({{4}})}}};
    EXPECT_EQ(on_links(graph, platform, apart).stages[1][0].start_ms, 1 + 1);
  }
}

TEST(Simulate, EdgesInsideAGroupCostNothing) {
  const Graph graph = test::small_graph({1, 2, 3}, {{1, 2, 9}, {2, 3, 9}});
  const Schedule schedule{{{stage({{1, 2, 3}})}, {}}};
  const Timeline timeline = on_links(graph, test::devices(2, 1), schedule);
  EXPECT_EQ(timeline.latency_ms, 6);
  EXPECT_TRUE(timeline.transfers.empty());
}

TEST(Simulate, CountsStagesWhoseCostIsAnEstimate) {
  Random random(1, "estimate");
  Graph graph = test::dag(4, 0, {}, random);
  const Platform platform = test::devices(1, 4);
  Profile profile = test::random_profile(graph, platform, random);
  Configuration& configuration = profile.configurations.front();
  configuration.stages.clear();
  const Schedule schedule{{{stage({{1}, {2}}), stage({{3, 4}})}}};
  EXPECT_EQ(
      simulate(graph, schedule, CostModel::from_profile(graph, platform, profile)).estimated_stages,
      1u);
  configuration.stages[stage_key(graph, schedule.devices[0][0])].ms = 1;
  EXPECT_EQ(
      simulate(graph, schedule, CostModel::from_profile(graph, platform, profile)).estimated_stages,
      0u);
}

// Work is queued in advance, so an input that a device waits for costs a launch, and one that was
// there before does not.
TEST(Simulate, LaunchesCostTimeAtTheBeginAndAfterReceives) {
  Random random(2, "launch");
  Graph graph = test::small_graph({1, 1, 1, 1}, {{1, 2, 9}, {1, 3, 9}, {3, 4, 9}});
  Profile profile = test::random_profile(graph, test::devices(2, 1), random);
  Configuration& configuration = profile.configurations.front();
  for (auto& [signature, times] : configuration.operators) times.ms = 4;
  for (TransferCurve& curve : configuration.transfers) curve.points = {{1, 3.0}};
  configuration.launch = {0.5, 0, 1};
  const Platform plain = test::devices(2, 1);
  const Platform ports({plain.devices().begin(), plain.devices().end()}, {}, {},
                       {.contention = Contention::kPort});
  // gpu0: v1, v2. gpu1: v3, v4, of which v3 waits for v1.
  const Schedule schedule{{{stage({{1}}), stage({{2}})}, {stage({{3}}), stage({{4}})}}};
  for (const Platform& platform : {plain, ports}) {
    const CostModel costs = CostModel::from_profile(graph, platform, profile);
    EXPECT_DOUBLE_EQ(costs.link_ms(EdgeId(1), d0, d1), 3);
    EXPECT_DOUBLE_EQ(costs.mean_link_ms(EdgeId(1)), 3);
    const Timeline timeline = simulate(graph, schedule, costs);
    EXPECT_DOUBLE_EQ(timeline.stages[0][0].start_ms, 0.5);
    EXPECT_DOUBLE_EQ(timeline.stages[0][1].start_ms, 4.5) << "queued in advance";
    EXPECT_DOUBLE_EQ(timeline.transfers[0].end_ms, 4.5 + 3) << "the launch is not the link's";
    EXPECT_DOUBLE_EQ(timeline.stages[1][0].start_ms, 4.5 + 3 + 0.5);
    EXPECT_DOUBLE_EQ(timeline.latency_ms, 8 + 2 * 4);
    // gpu0: v1, v2. gpu1: v4's input comes from gpu0 while v3 runs there.
    const Schedule early{{{stage({{1}}), stage({{3}})}, {stage({{2}}), stage({{4}})}}};
    const Timeline late = simulate(graph, early, costs);
    EXPECT_DOUBLE_EQ(late.stages[1][0].start_ms, 8) << "v2 by v1";
    EXPECT_DOUBLE_EQ(late.stages[1][1].start_ms, 12) << "v3's tensor is there by then";
  }
}

using test::with_receive;

// gpu0: v1, whose tensor travels for 5 ms. gpu1: v2, then v3 and v4, which read that tensor.
TEST(Simulate, AReceiverCopiesWhenItFirstAwaitsATensor) {
  const Platform platform = with_receive(test::devices(2, 1), 0.5);
  const Schedule schedule{{{stage({{1}})}, {stage({{2}}), stage({{3}}), stage({{4}})}}};
  struct Expected {
    double v2_ms, v3_start_ms;
  };
  for (const auto& [v2_ms, v3_start_ms] : {Expected{1, 7},         // idle while the tensor arrives
                                           Expected{4.5, 7},       // idle for as long as it copies
                                           Expected{6, 8.5},       // arrives while the copy runs
                                           Expected{20, 22.5}}) {  // arrived long before
    const Graph graph = test::small_graph({2, v2_ms, 1, 1}, {{1, 3, 5}, {1, 4, 5}});
    const Timeline timeline = on_links(graph, platform, schedule);
    EXPECT_EQ(timeline.stages[1][1].ready_ms, 7);
    EXPECT_EQ(timeline.stages[1][1].awaited_ms, v2_ms);
    EXPECT_EQ(timeline.stages[1][1].start_ms, v3_start_ms);
    EXPECT_EQ(timeline.stages[1][2].start_ms, v3_start_ms + 1) << "it has the tensor";
    EXPECT_EQ(timeline.transfers.front().end_ms, 7) << "a copy is no part of it";
  }
}

TEST(Simulate, AReceiverCopiesOneTensorAfterTheOther) {
  const Graph graph = test::small_graph({2, 1, 4, 1}, {{1, 4, 4}, {2, 4, 6}});
  const Schedule schedule{{{stage({{1}}), stage({{2}})}, {stage({{3}}), stage({{4}})}}};
  const Platform plain = test::devices(2, 1);
  // They arrive after 6 and 9 ms; gpu1 is free after 4.
  EXPECT_EQ(on_links(graph, plain, schedule).stages[1][1].start_ms, 9);
  EXPECT_EQ(on_links(graph, with_receive(plain, 0.5), schedule).stages[1][1].start_ms, 9);
  EXPECT_EQ(on_links(graph, with_receive(plain, 1), schedule).stages[1][1].start_ms, 4 + 4 + 6);
}

// Links and ports that carry one tensor at a time are charged as such.
TEST(Simulate, WithoutAChargeForReceivingTimelinesStay) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "charges");
    const Graph graph = test::random_graph(2 + random.below(30), 0.15, {}, random);
    const std::size_t count = 1 + random.below(4);
    const Platform plain = test::devices(count, 2),
                   ports = test::devices(count, 2, Contention::kPort);
    const Schedule schedule = test::random_schedule(graph, plain, random);
    const Timeline timeline = on_links(graph, plain, schedule);
    const Timeline uncharged = on_links(graph, with_receive(plain, 0), schedule);
    EXPECT_EQ(timeline.stages, uncharged.stages);
    EXPECT_EQ(timeline.transfers, uncharged.transfers);
    EXPECT_EQ(on_links(graph, ports, schedule).stages,
              on_links(graph, with_receive(ports, 0.5), schedule).stages);
    double latency_ms = timeline.latency_ms;
    for (const double receive : {0.25, 0.5, 2.0}) {
      const double charged_ms = on_links(graph, with_receive(plain, receive), schedule).latency_ms;
      EXPECT_GE(charged_ms, latency_ms - 1e-9);
      latency_ms = charged_ms;
    }
  }
}

TEST(Simulate, AgreesWithAFixpointWhereReceiversCopy) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "copies");
    const Graph graph =
        test::random_graph(2 + random.below(30), 0.2, test::style_by_number(seed), random);
    const Platform platform = with_receive(test::devices(2 + random.below(3), 2), random.uniform());
    const Schedule schedule = test::random_schedule(graph, platform, random);
    const auto slow = test::slow_latency_ms(graph, schedule, test::plain_costs_of(graph, platform));
    EXPECT_DOUBLE_EQ(on_links(graph, platform, schedule).latency_ms, slow.value());
  }
}

// A device receives at one share from those that it shares memory with, and at another from the
// rest.
TEST(Simulate, AgreesWithAFixpointWhereSomeDevicesShareMemory) {
  std::size_t mixed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "shared memory");
    Graph graph = test::random_graph(2 + random.below(30), 0.2, {}, random);
    const Platform platform = test::devices(3, 2);
    const Profile profile =
        test::with_shared_memory(test::random_profile(graph, platform, random), random);
    const CostModel costs = CostModel::from_profile(graph, platform, profile);
    const Schedule schedule = test::random_schedule(graph, platform, random);
    const auto slow = test::slow_latency_ms(graph, schedule, test::plain_costs_of(costs));
    EXPECT_DOUBLE_EQ(simulate(graph, schedule, costs).latency_ms, slow.value());
    mixed += costs.receive_share(DeviceId(1), DeviceId(0)) !=
             costs.receive_share(DeviceId(2), DeviceId(0));
  }
  EXPECT_GT(mixed, 50u);
}

TEST(Simulate, RefusesSchedulesThatValidateRefuses) {
  const Graph graph = test::small_graph({1, 1}, {{1, 2, 0}});
  const Platform platform = test::devices(1, 1);
  const Schedule waits_for_itself{{{stage({{2}}), stage({{1}})}}};
  EXPECT_THROW(on_links(graph, platform, waits_for_itself), std::logic_error);
  const Schedule incomplete{{{stage({{1}})}}};
  EXPECT_THROW(on_links(graph, platform, incomplete), std::logic_error);
  const Schedule twice{{{stage({{1}}), stage({{2}}), stage({{2}})}}};
  EXPECT_THROW(on_links(graph, platform, twice), std::logic_error);
}

TEST(Simulate, AgreesWithAFixpointOnRandomSchedules) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "simulate");
    test::CostStyle style;
    style.overlap = seed % 3 != 0;
    style.small_integers = seed % 4 == 0;
    const Graph graph = test::random_graph(2 + random.below(30), 0.15, style, random);
    const Platform platform =
        test::devices(1 + random.below(4), 1 + static_cast<int>(random.below(4)));
    const Schedule schedule = test::random_schedule(graph, platform, random);
    const Timeline timeline = on_links(graph, platform, schedule);
    const auto slow = test::slow_latency_ms(graph, schedule, test::plain_costs_of(graph, platform));
    ASSERT_TRUE(slow.has_value());
    EXPECT_DOUBLE_EQ(timeline.latency_ms, *slow);
    for (const auto& stages : timeline.stages) {
      double free = 0;
      for (const StageTimes& times : stages) {
        EXPECT_EQ(times.start_ms, std::max(times.ready_ms, free));
        free = times.end_ms;
      }
    }
    EXPECT_TRUE(std::is_sorted(
        timeline.transfers.begin(), timeline.transfers.end(),
        [](const TransferTimes& a, const TransferTimes& b) { return a.start_ms < b.start_ms; }));
  }
}

}  // namespace
}  // namespace hios
