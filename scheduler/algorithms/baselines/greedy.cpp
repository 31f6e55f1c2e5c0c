#include "scheduler/algorithms/baselines/greedy.h"

#include <optional>
#include <vector>

#include "scheduler/deadline.h"
#include "scheduler/list/mapping.h"
#include "scheduler/list/placement.h"

// The latency so far is the maximum of its previous value and the operator's end, so the two rules
// are one: the device where the operator ends first. O(V·M + in-edges·M). Tests:
// tests/scheduler/algorithms/baselines/baselines_test.cpp, tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

/// Returns the device where the operator ends first; nothing if labels and memory exclude all.
std::optional<DeviceId> first_to_end(OpId op, const CostModel& costs, const ListTimeline& timeline,
                                     const Placement& placement) {
  std::optional<DeviceId> best;
  double best_ms = 0;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    const DeviceId device(d);
    if (!placement.may_go(op, device)) continue;
    const double ms = timeline.earliest_start_ms(op, device) + costs.operator_ms(op, device);
    if (best && ms >= best_ms) continue;
    best = device;
    best_ms = ms;
  }
  return best;
}

}  // namespace

TimedSchedule schedule_greedily(const Graph& graph, const CostModel& costs,
                                const Deadline& deadline) {
  const std::vector<OpId> order = breadth_first_order(graph);
  ListTimeline timeline(graph, costs);
  Placement placement(graph, costs);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto placed = [&] {
      std::vector<std::optional<DeviceId>> devices(graph.size());
      for (std::size_t k = 0; k < i; ++k) devices[order[k].index()] = timeline.device(order[k]);
      return devices;
    };
    if (deadline.expired_at(i, kOperatorsPerCheck)) {
      return {list_schedule(graph, costs, order, placed()), true};
    }
    const auto device = first_to_end(order[i], costs, timeline, placement);
    if (!device) {
      const auto packed = pack_operators(graph, costs, "greedy", deadline);
      return {list_schedule(graph, costs, order, packed), false};
    }
    placement.place(order[i], *device);
    timeline.place(order[i], *device);
  }
  return {timeline.schedule(), false};
}

}  // namespace hios::scheduler
