#include "cli/run/run_trace.h"

#include "cli/planned_trace.h"

namespace hios::cli {

namespace {

constexpr const char* kMeasured = "measured";
// Shorter waits would only blur the picture.
constexpr double kShortestWaitMs = 0.005;

std::string group_name(const Graph& graph, const Group& group) {
  std::string name;
  for (const OpId op : group) name += (name.empty() ? "" : " + ") + graph.op(op).name;
  return name;
}

/// The stage clocks as the timeline that arrows are drawn from.
void draw_stages(const RunJob& job, const RecordedRun& recorded, Trace& trace) {
  const auto& devices = job.schedule.schedule.devices;
  for (std::size_t r = 0; r < devices.size(); ++r) {
    for (std::size_t s = 0; s < devices[r].size(); ++s) {
      const StageClock& clock = recorded.clocks[r][s];
      const auto& groups = devices[r][s].groups;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::string lane = lane_name(r, g);
        if (g == 0 && clock.start_ms - clock.awaited_ms > kShortestWaitMs) {
          trace.slice(kMeasured, lane, "waiting", clock.awaited_ms, clock.start_ms);
        }
        trace.slice(kMeasured, lane, group_name(job.network.coarse.graph, groups[g]),
                    clock.start_ms, clock.end_ms);
      }
    }
  }
}

void draw_messages(const RunJob& job, std::size_t rank, const RecordedRun& recorded,
                   const std::vector<Place>& places, Trace& trace) {
  const Graph& graph = job.network.coarse.graph;
  const RankPlan plan = plan_rank(job.network.coarse, job.schedule.schedule, Rank(rank));
  for (const PlannedMessage& message : plan.receives) {
    const Place& from = places[message.op.index()];
    const StageClock& sent = recorded.clocks[message.peer.index()][from.stage];
    const StageClock& read = recorded.clocks[rank][message.stage];
    trace.arrow(kMeasured, lane_name(message.peer.index(), from.stream), sent.end_ms,
                lane_name(rank, 0), read.start_ms, graph.op(message.op).name);
  }
}

}  // namespace

Trace run_trace(const RunJob& job, const RunResults& results, const CostModel* costs) {
  Trace trace;
  const Graph& graph = job.network.coarse.graph;
  const Schedule& schedule = job.schedule.schedule;
  if (results.predicted) draw_planned(graph, schedule, *results.predicted, *costs, trace);
  draw_stages(job, results.recorded, trace);
  const std::vector<Place> where = places(graph, schedule);
  for (std::size_t r = 0; r < schedule.devices.size(); ++r)
    draw_messages(job, r, results.recorded, where, trace);
  return trace;
}

}  // namespace hios::cli
