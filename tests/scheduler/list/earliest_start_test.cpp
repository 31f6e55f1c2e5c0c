#include "scheduler/list/earliest_start.h"

#include <limits>
#include <tuple>

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/list/priorities.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

/// An operator that a device is held for, and until when.
struct Hold {
  std::optional<OpId> op;
  double until_ms = 0;
};

/// Returns the next pair, found by trying all of them.
std::optional<EarliestStart::Choice> plain_next(const Graph& graph, const CostModel& costs,
                                                const std::vector<std::size_t>& position,
                                                const ListTimeline& timeline,
                                                const std::vector<Hold>& holds) {
  std::optional<EarliestStart::Choice> best;
  std::tuple<double, bool, std::size_t, double> best_key;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId op(i);
    const auto in = graph.in_edges(op);
    const bool ready = std::all_of(in.begin(), in.end(),
                                   [&](EdgeId e) { return timeline.placed(graph.edge(e).from); });
    if (timeline.placed(op) || !ready) continue;
    for (std::size_t d = 0; d < holds.size(); ++d) {
      const DeviceId device(d);
      if (!costs.can_run(op, device)) continue;
      double start = timeline.earliest_start_ms(op, device);
      double free = 0, arrival = 0;
      for (std::size_t k = 0; k < graph.size(); ++k) {
        if (timeline.device(OpId(k)) == device) free = std::max(free, timeline.finish_ms(OpId(k)));
      }
      for (const EdgeId e : in) {
        const OpId from = graph.edge(e).from;
        arrival = std::max(arrival, timeline.finish_ms(from) +
                                        costs.transfer_ms(e, *timeline.device(from), device));
      }
      const Hold& hold = holds[d];
      const bool waits = hold.op && !timeline.placed(*hold.op) && costs.can_run(*hold.op, device);
      if (waits && *hold.op != op && arrival > free) start = std::max(start, hold.until_ms);
      const std::tuple key(start, !(waits && *hold.op == op), position[i],
                           start + costs.operator_ms(op, device));
      if (best && key >= best_key) continue;
      best = {op, device, start};
      best_key = key;
    }
  }
  return best;
}

TEST(EarliestStart, IsTheMinimumOfAllPairs) {
  for (std::uint64_t seed = 0; seed < test::tries(150u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "pairs");
    test::CostStyle style;
    style.small_integers = seed % 3 == 0;
    style.by_device = seed % 2 == 0;
    const Graph graph = test::random_graph(25, 0.12, style, random);
    const Platform platform = test::devices(3, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const std::vector<OpId> order = priority_order(graph, costs);
    const auto position = positions(order);
    EarliestStart list(graph, costs, order);
    ListTimeline plain(graph, costs);
    std::vector<Hold> holds(3);
    while (!list.is_done()) {
      const auto choice = list.next();
      const auto expected = plain_next(graph, costs, position, plain, holds);
      ASSERT_TRUE(choice && expected);
      ASSERT_EQ(choice->op, expected->op);
      ASSERT_EQ(choice->device, expected->device);
      ASSERT_EQ(choice->start_ms, expected->start_ms);
      list.place(*choice);
      plain.place_at(choice->op, choice->device, choice->start_ms);
      holds[choice->device.index()] = {};
      const auto out = graph.out_edges(choice->op);
      if (out.empty() || random.below(2) == 0) continue;
      const OpId consumer = graph.edge(out[random.below(out.size())]).to;
      const double until = list.finish_ms(choice->op) + random.uniform(0, 2);
      list.hold(choice->device, consumer, until);
      holds[choice->device.index()] = {consumer, until};
    }
    EXPECT_EQ(list.schedule(), plain.schedule());
    EXPECT_TRUE(validate(graph, platform, list.schedule()).empty());
    EXPECT_LE(simulate(graph, list.schedule(), costs).latency_ms, plain.latency_ms());
  }
}

TEST(EarliestStart, ReturnsNothingWhenNoOperatorMayGoAnywhere) {
  const Graph graph = test::small_graph({1, 1}, {{1, 2, 1}});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const std::vector<OpId> order = priority_order(graph, costs);
  EarliestStart list(graph, costs, order, [](OpId op, DeviceId) { return op == OpId(0); });
  list.place(*list.next());
  EXPECT_FALSE(list.next());
  EXPECT_FALSE(list.is_done());
  EXPECT_EQ(list.devices()[0], DeviceId(0));
  EXPECT_FALSE(list.devices()[1]);
}

}  // namespace
}  // namespace hios::scheduler
