#include "scheduler/algorithms/baselines/met.h"

#include "scheduler/list/mapping.h"

// O(V·M + E), so only packing looks at the clock. Where devices are alike, all operators go to the
// first: a baseline that shows the gain by parallelism. Tests:
// tests/scheduler/algorithms/baselines/baselines_test.cpp, tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {

TimedSchedule schedule_met(const Graph& graph, const CostModel& costs, const Deadline& deadline) {
  const MappingTimes times(graph, costs, breadth_first_order(graph));
  return {times.schedule(fastest_mapping(graph, costs, times.order(), "met", deadline)), false};
}

}  // namespace hios::scheduler
