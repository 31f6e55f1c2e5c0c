#include "scheduler/algorithms/list/heft.h"

#include <optional>
#include <utility>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "scheduler/deadline.h"
#include "scheduler/list/earliest_finish.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"

// O(V·(M + in-edges·M) + V·gaps): gaps are visited from the operator's ready time on, and in the
// order of ranks few are later than that. Where labels and memory exclude all devices,
// pack_operators() places all operators, and list scheduling orders them.
//
// Where receivers copy, an operator that avoids a copy may let later ones pay for more. So there is
// also a schedule by transfers alone, and the shorter one counts.
//
// Tests: tests/scheduler/algorithms/list/heft_test.cpp (the paper's example, Fig. 3; against a
// plain form), tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

TimedSchedule in_order(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order,
                       bool copies, const Deadline& deadline) {
  EarliestFinish placed(graph, costs, copies);
  std::size_t count = 0;
  for (const OpId op : order) {
    if (deadline.expired_at(count++, kOperatorsPerCheck)) {
      return {list_schedule(graph, costs, order, placed.devices()), true};
    }
    if (placed.place(op)) continue;
    return {list_schedule(graph, costs, order, pack_operators(graph, costs, "heft", deadline)),
            false};
  }
  return {placed.schedule(), false};
}

}  // namespace

TimedSchedule schedule_heft(const Graph& graph, const CostModel& costs, const HeftOptions& options,
                            const Deadline& deadline) {
  const std::vector<OpId> by_mean = priority_order(graph, costs);
  TimedSchedule best = in_order(graph, costs, by_mean, true, deadline);
  std::optional<double> best_ms;
  const auto offer = [&](TimedSchedule other) {
    if (!best_ms) best_ms = simulate(graph, best.schedule, costs).latency_ms;
    const double ms = simulate(graph, other.schedule, costs).latency_ms;
    if (ms >= *best_ms) return;
    best = std::move(other);
    best_ms = ms;
  };
  if (best.timed_out) return best;
  if (costs.charges_receivers()) offer(in_order(graph, costs, by_mean, false, deadline));
  if (!options.least_ranks || best.timed_out) return best;
  const std::vector<OpId> by_least = priority_order(graph, costs, RankTimes::kLeast);
  if (by_least != by_mean) offer(in_order(graph, costs, by_least, true, deadline));
  return best;
}

}  // namespace hios::scheduler
