#include "cli/run/run_trace.h"

#include "hios/report/draw_timeline.h"

namespace hios::cli {

Trace run_trace(const RunJob& job, const RunResults& results, const CostModel* costs) {
  Trace trace;
  const Graph& graph = job.network.coarse.graph;
  const Schedule& schedule = job.schedule.schedule;
  if (results.predicted) {
    draw_timeline("planned", graph, schedule, *results.predicted, costs, trace);
  }
  draw_timeline("measured", graph, schedule, measured_timeline(job, results.recorded), nullptr,
                trace);
  return trace;
}

}  // namespace hios::cli
