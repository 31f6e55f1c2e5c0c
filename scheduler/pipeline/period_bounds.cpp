#include "scheduler/pipeline/period_bounds.h"

#include <algorithm>
#include <limits>

#include "scheduler/bounds/shares.h"

namespace hios::scheduler::pipeline {

LowerBound simple_period_bound(const Graph& graph, const CostModel& costs) {
  const Shares shares(graph, costs);
  const std::size_t devices = costs.platform().size();
  double dearest_ms = 0, all_ms = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId op(i);
    double path_ms = std::numeric_limits<double>::infinity(), work_ms = path_ms;
    for (std::size_t d = 0; d < devices; ++d) {
      if (!costs.can_run(op, DeviceId(d))) continue;
      path_ms = std::min(path_ms, shares.path_ms(op, DeviceId(d)));
      work_ms = std::min(work_ms, shares.work_ms(op, DeviceId(d)));
    }
    dearest_ms = std::max(dearest_ms, path_ms);
    all_ms += work_ms;
  }
  return {std::max(dearest_ms, all_ms / static_cast<double>(devices)), "simple"};
}

}  // namespace hios::scheduler::pipeline
