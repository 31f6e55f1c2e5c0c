#include "cli/run/run_trace.h"

#include "hios/report/draw_timeline.h"
#include "hios/schedule/assignment.h"

namespace hios::cli {

namespace {

/// The stage clocks as a timeline. A message is taken to leave with the end of its producer's stage
/// and to arrive with the start of the stage that awaits it.
Timeline measured_timeline(const RunJob& job, const RecordedRun& recorded) {
  const Schedule& schedule = job.schedule.schedule;
  const Assignment assignment(job.network.coarse.graph.size(), schedule);
  Timeline timeline;
  timeline.latency_ms = recorded.latency_ms;
  for (const std::vector<StageClock>& clocks : recorded.clocks) {
    std::vector<StageTimes>& stages = timeline.stages.emplace_back();
    for (const StageClock& clock : clocks) {
      stages.push_back({clock.awaited_ms, 0, clock.start_ms, clock.end_ms});
    }
  }
  for (std::size_t r = 0; r < schedule.devices.size(); ++r) {
    const RankPlan plan = plan_rank(job.network.coarse, schedule, Rank(r));
    for (const PlannedMessage& message : plan.receives) {
      const AssignedTo& from = assignment[message.op];
      timeline.transfers.push_back({message.op, from.device, DeviceId(r),
                                    timeline.stages[from.device.index()][from.stage].end_ms,
                                    timeline.stages[r][message.stage].start_ms,
                                    message.size_bytes});
    }
  }
  sort_transfers(timeline.transfers);
  return timeline;
}

}  // namespace

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
