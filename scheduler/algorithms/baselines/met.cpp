#include "scheduler/algorithms/baselines/met.h"

#include "scheduler/list/mapping.h"

// O(V·M + E), so nothing here looks at the clock but packing. Where devices are alike, all go to
// the first: a baseline that says what parallelism is worth. Tests: baselines_test, oracle_test.

namespace hios::scheduler {

TimedSchedule schedule_met(const Graph& graph, const CostModel& costs, const Deadline& deadline) {
  const MappingTimes times(graph, costs, breadth_first_order(graph));
  return {times.schedule(fastest_mapping(graph, costs, times.order(), "met", deadline)), false};
}

}  // namespace hios::scheduler
