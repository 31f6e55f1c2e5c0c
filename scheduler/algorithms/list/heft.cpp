#include "scheduler/algorithms/list/heft.h"

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
// Tests: tests/scheduler/algorithms/list/heft_test.cpp (the paper's example, Fig. 3; against a
// plain form), tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

TimedSchedule in_order(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order,
                       const Deadline& deadline) {
  EarliestFinish placed(graph, costs);
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
  TimedSchedule best = in_order(graph, costs, by_mean, deadline);
  if (!options.least_ranks || best.timed_out) return best;
  const std::vector<OpId> by_least = priority_order(graph, costs, RankTimes::kLeast);
  if (by_least == by_mean) return best;
  TimedSchedule other = in_order(graph, costs, by_least, deadline);
  const auto latency = [&](const TimedSchedule& found) {
    return simulate(graph, found.schedule, costs).latency_ms;
  };
  if (latency(other) >= latency(best)) return best;
  return other;
}

}  // namespace hios::scheduler
