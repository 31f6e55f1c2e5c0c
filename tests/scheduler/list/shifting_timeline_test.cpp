#include "scheduler/list/incremental/shifting_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/list/incremental/incremental_timeline.h"
#include "scheduler/list/priorities.h"
#include "scheduler/structures/numbers.h"
#include "support/graphs/dag_generator.h"
#include "support/sanitized.h"

// Where costs are multiples of a power of two, the blocks of ShiftingTimeline must give every
// latency of IncrementalTimeline, for any additions, limits and sizes of blocks.

namespace hios::scheduler {
namespace {

/// Returns the same graph with times that are multiples of 1/64, and sometimes 0; `by_pair`: to the
/// first device, transfers take twice the time.
Graph in_sixty_fourths(const Graph& graph, bool by_pair) {
  const auto round = [](double ms) { return std::floor(ms * 64) / 64; };
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  for (Operator& op : operators) op.time_ms = round(op.time_ms);
  for (Edge& edge : edges) {
    const double ms = round(*edge.transfer_ms);
    edge.transfer_ms = ms;
    if (!by_pair) continue;
    edge.transfer_ms.reset();
    edge.transfer_by_pair =
        std::make_shared<PairTimes>(PairTimes{{"gpu", {{"gpu", ms}, {"gpu0", 2 * ms}}}});
  }
  return Graph(graph.name(), operators, edges, {StageCostRule::Kind::kOverlap, 0.5});
}

/// Adds random sets of operators to both timelines, on every device and with random limits.
void compare_timelines(const Graph& graph, const CostModel& costs, Random& random) {
  const std::vector<OpId> order = priority_order(graph, costs);
  IncrementalTimeline plain(graph, costs, order);
  ShiftingTimeline shifting(graph, costs, order, 1 + random.below(5));
  std::vector<OpId> left = order;
  const std::size_t devices = costs.platform().size();
  while (!left.empty()) {
    std::vector<OpId> added, later;
    const double share = random.uniform() < 0.3 ? 0.3 : 2.0 / static_cast<double>(left.size());
    for (OpId op : left) (random.uniform() < share ? added : later).push_back(op);
    if (added.empty()) continue;
    std::vector<double> bounds;
    for (std::size_t d = 0; d < devices; ++d) {
      bounds.push_back(shifting.at_least(added, DeviceId(d)));
    }
    double least = kInfinity;
    for (std::size_t i = 0; i < devices + 1; ++i) {
      const DeviceId device(i < devices ? i : random.below(devices));
      const double limit = random.uniform() < 0.5 ? least : least * random.uniform(0.9, 1.1);
      const double latency = plain.try_adding(added, device, std::min(limit, least));
      ASSERT_EQ(shifting.try_adding(added, device, std::min(limit, least)), latency);
      if (latency == kInfinity) continue;
      EXPECT_LE(bounds[device.index()], latency);
      least = latency;
      plain.remember();
      shifting.remember();
    }
    plain.keep();
    shifting.keep();
    ASSERT_EQ(shifting.latency_ms(), plain.latency_ms());
    ASSERT_EQ(shifting.schedule(), plain.schedule());
    left = later;
  }
}

TEST(ShiftingTimeline, EqualsTheIncrementalTimelineToTheLastBit) {
  for (std::uint64_t seed = 0; seed < test::tries(1500u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "shifting timeline");
    const std::size_t n = 1 + random.below(seed % 10 == 0 ? 150 : 40);
    test::CostStyle style;
    style.small_integers = seed % 3 == 0;
    const Graph graph =
        in_sixty_fourths(test::random_graph(n, random.uniform(0.01, 0.5), style, random),
                         /*by_pair=*/seed % 4 == 0);
    const Platform platform = test::devices(1 + random.below(4), 1);
    compare_timelines(graph, CostModel::from_graph(graph, platform), random);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace hios::scheduler
