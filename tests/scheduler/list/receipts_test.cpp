// Costs of receiving while a schedule is made.
#include "scheduler/list/receipts.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/schedule/assignment.h"
#include "scheduler/list/incremental/incremental_timeline.h"
#include "scheduler/list/priorities.h"
#include "scheduler/list/timeline.h"
#include "scheduler/registry.h"
#include "scheduler/structures/numbers.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::d0;
using test::d1;
using test::v;
using test::v1;
using test::v2;
using test::v3;
using test::v4;
using test::with_receive;

// v1 (4 ms) and then v3 (3.5) go to gpu0, v2 (6) to gpu1. v4 (3) reads v1's tensor, which travels
// for 2 ms. By transfers alone it ends first on gpu1, at 6 + 3 ms, and on gpu0 at 7.5 + 3. But gpu1
// computes until 6, so it loses the whole copy, 2 ms, and v4 ends on gpu0 first.
TEST(Receipts, TheCopyDecidesAboutTheDevice) {
  const Graph graph = test::small_graph({4, 6, 3.5, 3}, {{1, 3, 2}, {1, 4, 2}});
  for (const double share : {0.0, 1.0}) {
    const Platform platform = with_receive(test::devices(2, 1), share);
    const CostModel costs = CostModel::from_graph(graph, platform);
    for (const char* name :
         {"heft", "hios-lp", "hios-mr", "inter-lp", "inter-mr", "hios", "peft", "m-sct"}) {
      SCOPED_TRACE(std::string(name) + ", " + std::to_string(share));
      const Algorithm& algorithm = built_in().find(name);
      const ScheduleResult made = algorithm.run(Problem(costs), Options(algorithm.options), {});
      const Assignment assignment(graph.size(), made.schedule);
      EXPECT_EQ(made.latency_ms, share == 0 ? 9 : 10.5);
      EXPECT_EQ(assignment[v4].device == assignment[v1].device, share > 0);
    }
  }
}

// The tensor of v1 arrives at gpu1 after 6 ms; its copy takes 2.
class CopiesOfOneTensor : public ::testing::Test {
 protected:
  Graph graph_ = test::small_graph({2, 8, 1, 1}, {{1, 3, 4}, {1, 4, 4}});
  Platform platform_ = with_receive(test::devices(2, 1), 0.5);
  CostModel costs_ = CostModel::from_graph(graph_, platform_);
};

TEST_F(CopiesOfOneTensor, TheFirstConsumerPays) {
  ListTimeline timeline(graph_, costs_);
  timeline.place(v1, d0);
  EXPECT_EQ(timeline.earliest_start_ms(v3, d1), 6) << "the device is idle while it arrives";
  timeline.place(v2, d1);
  EXPECT_EQ(timeline.earliest_start_ms(v3, d1), 8 + 2);
  timeline.place(v3, d1);
  EXPECT_EQ(timeline.earliest_start_ms(v4, d1), 11) << "the device has it";
  EXPECT_EQ(timeline.earliest_start_ms(v4, d0), 2) << "its own tensor";
  timeline.clear();
  timeline.place(v1, d0);
  timeline.place(v2, d1);
  EXPECT_EQ(timeline.earliest_start_ms(v4, d1), 8 + 2) << "nothing was received before";
}

TEST_F(CopiesOfOneTensor, GapsHoldCopies) {
  ListTimeline timeline(graph_, costs_, /*insertion=*/true);
  timeline.place(v1, d0);
  timeline.place(v3, d1);  // copies from 4 to 6, then runs
  EXPECT_EQ(timeline.start_ms(v3), 6);
  EXPECT_EQ(timeline.earliest_start_ms(v2, d1), 7) << "8 ms do not fit before the copy";
  EXPECT_EQ(timeline.earliest_start_ms(v4, d1), 7) << "the device has it then";
  const Graph short_v2 = test::small_graph({2, 4, 1, 1}, {{1, 3, 4}, {1, 4, 4}});
  const CostModel costs = CostModel::from_graph(short_v2, platform_);
  ListTimeline other(short_v2, costs, true);
  other.place(v1, d0);
  other.place(v3, d1);
  EXPECT_EQ(other.earliest_start_ms(v2, d1), 0) << "4 ms do";
}

// v2 and v3 read a kilobyte each of v1's tensor, a gap of two between them; 1 ms a kilobyte.
TEST(Receipts, RangesTravelAsOneMessage) {
  const Graph plain = test::small_graph({1, 1, 1, 9}, {{1, 2, 0}, {1, 3, 0}});
  std::vector<Edge> edges(plain.edges().begin(), plain.edges().end());
  for (std::size_t e = 0; e < 2; ++e) {
    edges[e].transfer_ms.reset();
    edges[e].range = ByteRange{3000 * e, 3000 * e + 1000};
    edges[e].size_bytes = 1000;
  }
  const Graph graph("ranges", {plain.operators().begin(), plain.operators().end()}, edges);
  const Platform alike = with_receive(test::devices(2, 1), 0.5);
  const Platform platform({alike.devices().begin(), alike.devices().end()}, {},
                          hios::Link{0, 0.001});
  const CostModel costs = CostModel::from_graph(graph, platform);
  ListTimeline timeline(graph, costs);
  timeline.place(v1, d0);
  timeline.place(v2, d1);
  EXPECT_EQ(timeline.start_ms(v2), 1 + 1);
  EXPECT_EQ(timeline.earliest_start_ms(v3, d1), 1 + 4) << "it awaits all four kilobytes";
  timeline.clear();
  timeline.place(v1, d0);
  timeline.place(v2, d1);
  timeline.place(v4, d1);
  EXPECT_EQ(timeline.earliest_start_ms(v3, d1), 3 + 9 + 1.5) << "the rest of a copy of 2 ms";
}

/// Returns a random graph with costs of which many are equal or none.
Graph random_costs(std::uint64_t seed, Random& random) {
  return test::random_graph(2 + random.below(40), random.uniform(0, 0.4),
                            test::style_by_number(seed), random);
}

TEST(Receipts, TimelinesAreWhatTheSimulatorSays) {
  std::size_t later = 0;
  for (std::uint64_t seed = 0; seed < test::tries(600u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "receipts");
    const Graph graph = random_costs(seed, random);
    const Platform platform =
        with_receive(test::devices(2 + random.below(3), 1), random.uniform(0, 2));
    const CostModel costs = CostModel::from_graph(graph, platform);
    ListTimeline appended(graph, costs), inserted(graph, costs, true);
    for (const OpId op : priority_order(graph, costs)) {
      const DeviceId device(random.below(platform.size()));
      const double start = inserted.earliest_start_ms(op, device);
      appended.place(op, device);
      inserted.place(op, device);
      EXPECT_EQ(inserted.start_ms(op), start);
    }
    EXPECT_EQ(appended.latency_ms(), simulate(graph, appended.schedule(), costs).latency_ms);
    ASSERT_TRUE(validate(graph, platform, inserted.schedule()).empty());
    const Timeline timeline = simulate(graph, inserted.schedule(), costs);
    EXPECT_LE(timeline.latency_ms, inserted.latency_ms());
    later += timeline.latency_ms < inserted.latency_ms();
    const Assignment assignment(graph.size(), inserted.schedule());
    for (std::size_t d = 0; d < platform.size(); ++d) {
      for (std::size_t s = 0; s < inserted.schedule().devices[d].size(); ++s) {
        const OpId op = inserted.schedule().devices[d][s].groups[0][0];
        EXPECT_LE(timeline.stages[d][s].start_ms, inserted.start_ms(op));
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(later, 0u) << "no tensor is copied again in a gap";
}

// Paths that come one after the other: an added operator may take a copy over from a later one.
TEST(Receipts, AnIncrementalTimelineIsTheListInItsOrder) {
  std::size_t shorter = 0;
  for (std::uint64_t seed = 0; seed < test::tries(400u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "grown");
    const Graph graph = random_costs(seed, random);
    const Platform platform =
        with_receive(test::devices(2 + random.below(3), 1), random.uniform(0, 2));
    const CostModel costs = CostModel::from_graph(graph, platform);
    const std::vector<OpId> order = priority_order(graph, costs);
    std::vector<std::optional<DeviceId>> device_of(graph.size());
    IncrementalTimeline grown(graph, costs, order);
    std::vector<OpId> left = order;
    while (!left.empty()) {
      std::vector<OpId> some;
      std::erase_if(left, [&](OpId op) {
        if (random.below(3) > 0) return false;
        some.push_back(op);
        return true;
      });
      if (some.empty()) continue;
      const DeviceId device(random.below(platform.size())), other(random.below(platform.size()));
      const double before_ms = grown.latency_ms();
      grown.try_adding(some, device, kInfinity);
      grown.remember();
      grown.try_adding(some, other, kInfinity);
      grown.keep();
      for (const OpId op : some) device_of[op.index()] = device;
      ListTimeline list(graph, costs);
      for (const OpId op : order) {
        if (device_of[op.index()]) list.place(op, *device_of[op.index()]);
      }
      ASSERT_EQ(grown.latency_ms(), list.latency_ms());
      shorter += grown.latency_ms() < before_ms;
    }
  }
  // Such additions are rare: fewer problems may have none.
  if (!test::kSanitized) {
    EXPECT_GT(shorter, 0u) << "no addition lets others end sooner";
  }
}

}  // namespace
}  // namespace hios::scheduler
