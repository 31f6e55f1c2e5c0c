#include "scheduler/bounds/bound_table.h"

namespace hios::scheduler {

// Files call the bound of colocation "together".
std::vector<LowerBound> timed_bounds(const BoundGraph& graph, const BoundContext& context) {
  const std::size_t ancestors = ancestor_limit(context.graph.size(), context.graph.edge_count());
  const TimeWindows paths =
      time_windows(graph, Contention::kOneDevice, ancestors, context.deadline);
  const TimeWindows filled =
      time_windows(graph, Contention::kAllDevices, ancestors, context.deadline);
  return {{critical_path_ms(graph, paths), "critical_path"},
          {intervals_ms(graph, filled, context), "intervals"},
          {colocation_ms(graph, filled, context), "together"}};
}

}  // namespace hios::scheduler
