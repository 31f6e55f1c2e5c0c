#include "hios/evaluate/many_inferences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hios/evaluate/blocks.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "support/graphs/dag_generator.h"

namespace hios {
namespace {

constexpr double kRounding = 1e-9;

Operator timed(const char* name, double ms) {
  Operator op;
  op.name = name;
  op.has_time = true;
  op.time_ms = ms;
  return op;
}

Platform charged(std::size_t devices, IoCharge charge) {
  const Platform plain = test::devices(devices, 4);
  std::vector<Device> list(plain.devices().begin(), plain.devices().end());
  for (Device& device : list) device.io_charge = charge;
  return Platform(std::move(list));
}

/// a -> b, a transfer of 4 ms, each on a device of its own.
class Chain : public testing::Test {
 protected:
  ManyInferences run(IoCharge charge, std::size_t inferences, std::size_t in_flight) const {
    const Platform platform = charged(2, charge);
    return simulate_many(graph_, schedule_, CostModel::from_graph(graph_, platform), inferences,
                         in_flight);
  }

  const Graph graph_{"chain", {timed("a", 2), timed("b", 3)}, {{OpId(0), OpId(1), 0, 4.0}}};
  const Schedule schedule_{{one_operator_stages({OpId(0)}), one_operator_stages({OpId(1)})}};
};

TEST_F(Chain, TensorsTravelWhileDevicesCompute) {
  // Ends at 2 + 4 + 3, and then as often as b can.
  EXPECT_EQ(run({0, 0}, 3, 9).end_ms, (std::vector<double>{9, 12, 15}));
  EXPECT_DOUBLE_EQ(run({0, 0}, 20, 9).period_ms, 3);
}

TEST_F(Chain, ThatKeepDevicesBusyAreTheirTime) {
  // a: 2 + 4 for sending; b: 4 for receiving + 3.
  EXPECT_EQ(run({1, 1}, 3, 9).end_ms, (std::vector<double>{13, 20, 27}));
  EXPECT_DOUBLE_EQ(run({1, 0}, 20, 9).period_ms, 6);
  EXPECT_DOUBLE_EQ(run({0.5, 0.25}, 20, 9).period_ms, 4);
  EXPECT_DOUBLE_EQ(run({0.5, 0.25}, 1, 9).period_ms, 9);
}

TEST(ManyInferencesWithLaunches, BeginSeparatelyWhereNothingElseIsUnderWay) {
  Random random(3, "launches");
  Graph graph("one", {timed("a", 2)}, {});
  const Platform platform = test::devices(1, 1);
  Profile profile = test::random_profile(graph, platform, random);
  profile.configurations.front().operators.begin()->second.ms = 2;
  profile.configurations.front().launch = {0.5, 0, 1};
  const CostModel costs = CostModel::from_profile(graph, platform, profile);
  const Schedule schedule{{one_operator_stages({OpId(0)})}};
  EXPECT_DOUBLE_EQ(simulate_many(graph, schedule, costs, 9, 1).period_ms, 2.5);
  EXPECT_DOUBLE_EQ(simulate_many(graph, schedule, costs, 9, 2).period_ms, 2)
      << "launched while it is busy";
}

TEST_F(Chain, WithOneBufferATensorWaitsUntilThePreviousWasRead) {
  // The second leaves when b has ended with the first, at 9, and so on: 4 + 3 a time.
  EXPECT_EQ(run({0, 0}, 3, 1).end_ms, (std::vector<double>{9, 16, 23}));
  EXPECT_EQ(run({0, 0}, 4, 2).end_ms, (std::vector<double>{9, 12, 16, 19}));
}

TEST_F(Chain, TheFewestBuffersThatThePeriodNeeds) {
  const Platform platform = charged(2, {0, 0});
  const InFlight found =
      least_in_flight(graph_, schedule_, CostModel::from_graph(graph_, platform));
  EXPECT_EQ(found.in_flight, 3u);
  EXPECT_NEAR(found.run.period_ms, 3, kRounding);
}

TEST(ManyInferences, ALongWayHidesNoSlowBlock) {
  // The chain of seven ends later than the eighth device, which is slower, for 7 / 0.05 inferences.
  std::vector<Operator> ops;
  std::vector<Edge> edges;
  Schedule schedule;
  for (std::size_t i = 0; i < 8; ++i) {
    ops.push_back(timed(("op" + std::to_string(i)).c_str(), i < 7 ? 1 : 1.05));
    if (i > 0 && i < 7) edges.push_back({OpId(i - 1), OpId(i), 0, 0.0});
    schedule.devices.push_back(one_operator_stages({OpId(i)}));
  }
  const Graph graph("chain next to one", std::move(ops), std::move(edges));
  const Platform platform = test::devices(8, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_DOUBLE_EQ(least_in_flight(graph, schedule, costs).run.period_ms, 1.05);
}

TEST(ManyInferences, AgreeWithBlocksAndWithOneInference) {
  constexpr std::uint64_t kSeed = 4;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  int without_cycle = 0;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::size_t devices = 1 + random.below(4);
    const Graph graph = test::random_graph(1 + random.below(9), random.uniform(0, 0.5), {}, random);
    const IoCharge charge =
        random.below(3) == 0 ? IoCharge{0, 0} : IoCharge{random.uniform(), random.uniform()};
    const Platform platform = charged(devices, charge);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const Schedule schedule = test::random_schedule(graph, platform, random);
    const double longest_ms = period_of(graph, schedule, costs).ms();
    double before_ms = std::numeric_limits<double>::infinity();
    for (const std::size_t buffers : {1, 2, 4, 16}) {
      const ManyInferences run = simulate_many(graph, schedule, costs, 200, buffers);
      EXPECT_GE(run.period_ms, longest_ms - kRounding);
      EXPECT_LE(run.end_ms.back(), before_ms + kRounding) << "more buffers never harm";
      before_ms = run.end_ms.back();
    }
    if (charge == IoCharge{0, 0}) {
      EXPECT_NEAR(simulate_many(graph, schedule, costs, 1, 1).latency_ms,
                  simulate(graph, schedule, costs).latency_ms, kRounding);
    }
    if (!cycle_of_blocks(graph, schedule).empty()) continue;
    ++without_cycle;
    EXPECT_NEAR(simulate_many(graph, schedule, costs, 400, 16).period_ms, longest_ms, kRounding);
    const InFlight found = least_in_flight(graph, schedule, costs);
    EXPECT_LE(found.run.period_ms, 1.02 * longest_ms);
    for (std::size_t fewer = 1; fewer < found.in_flight; ++fewer) {
      const std::size_t inferences = 4 * (fewer + devices) + 32;
      EXPECT_GT(simulate_many(graph, schedule, costs, inferences, fewer).period_ms,
                1.005 * longest_ms)
          << fewer << " would do";
    }
  }
  EXPECT_GT(without_cycle, 50);
}

TEST(Blocks, HoldAReceivedTensorOnceAndASentOneToTheEnd) {
  std::vector<Operator> ops{timed("x", 1), timed("a", 1), timed("b", 1), timed("c", 1),
                            timed("y", 1)};
  const Bytes sizes[] = {100, 10, 20, 1, 1000};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].memory_bytes = sizes[i];
  const Graph graph("block", std::move(ops),
                    {{OpId(0), OpId(1), 0, 1.0},  // x is received for a and b
                     {OpId(0), OpId(2), 0, 1.0},
                     {OpId(1), OpId(4), 0, 1.0},  // a is sent to y
                     {OpId(2), OpId(3), 0, 1.0}});
  const std::vector<OpId> block{OpId(1), OpId(2), OpId(3)};
  EXPECT_EQ(peak_bytes(graph, block), 100u + 10 + 20 + 1);
}

TEST(Blocks, TheBottleneckIsTheFirstOfTheMostExpensiveBlocks) {
  const Graph graph("apart", {timed("a", 1), timed("b", 2), timed("c", 2)}, {});
  const Platform platform = test::devices(3, 1);
  const Schedule schedule{{one_operator_stages({OpId(0)}), one_operator_stages({OpId(1)}),
                           one_operator_stages({OpId(2)})}};
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(period_of(graph, schedule, costs).bottleneck, DeviceId(1));
}

TEST(Blocks, ThatFormACycleAreNamed) {
  const Graph graph("zigzag", {timed("a", 1), timed("b", 1), timed("c", 1)},
                    {{OpId(0), OpId(1), 0, 1.0}, {OpId(1), OpId(2), 0, 1.0}});
  const Schedule schedule{
      {one_operator_stages({OpId(0), OpId(2)}), one_operator_stages({OpId(1)})}};
  const Platform platform = test::devices(2, 1);
  EXPECT_EQ(cycle_of_blocks(graph, schedule).size(), 2u);
  EXPECT_TRUE(validate(graph, platform, schedule).empty());
  const auto findings = validate(graph, platform, schedule, Objective::kThroughput);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().rule, Rule::kBlockCycle);
  EXPECT_EQ(findings.front().text,
            "blocks form a cycle: gpu1 reads from gpu0, which reads from gpu1; a schedule for "
            "throughput has none");
}

}  // namespace
}  // namespace hios
