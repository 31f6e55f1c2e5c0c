#include "cli/planned_trace.h"

#include <algorithm>

namespace hios::cli {

namespace {

constexpr const char* kPlanned = "planned";

double alone_ms(const Group& group, DeviceId device, const CostModel& costs) {
  double sum = 0;
  for (const OpId op : group) sum += costs.operator_ms(op, device);
  return sum;
}

/// The operators of each group, one after the other. Concurrent groups slow each other down, all
/// as much: the longest ends with the stage.
void draw_stage(const Graph& graph, const Stage& stage, const StageTimes& times, DeviceId device,
                const CostModel& costs, Trace& trace) {
  double longest_ms = 0;
  for (const Group& group : stage.groups) {
    longest_ms = std::max(longest_ms, alone_ms(group, device, costs));
  }
  const double stretch = longest_ms > 0 ? (times.end_ms - times.start_ms) / longest_ms : 1;
  for (std::size_t stream = 0; stream < stage.groups.size(); ++stream) {
    double at = times.start_ms;
    for (const OpId op : stage.groups[stream]) {
      const double end = std::min(times.end_ms, at + stretch * costs.operator_ms(op, device));
      trace.slice(kPlanned, lane_name(device.index(), stream), graph.op(op).name, at, end);
      at = end;
    }
  }
}

}  // namespace

std::vector<Place> places(const Graph& graph, const Schedule& schedule) {
  std::vector<Place> places(graph.size());
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
      const auto& groups = schedule.devices[d][s].groups;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        for (const OpId op : groups[g]) places[op.index()] = {DeviceId(d), s, g};
      }
    }
  }
  return places;
}

std::string lane_name(std::size_t rank, std::size_t stream) {
  return "rank " + std::to_string(rank) + " stream " + std::to_string(stream);
}

void draw_planned(const Graph& graph, const Schedule& schedule, const Timeline& timeline,
                  const CostModel& costs, Trace& trace) {
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
      draw_stage(graph, schedule.devices[d][s], timeline.stages[d][s], DeviceId(d), costs, trace);
    }
  }
  const std::vector<Place> place = places(graph, schedule);
  for (const TransferTimes& transfer : timeline.transfers) {
    const Place& from = place[transfer.producer.index()];
    std::optional<Place> to;  // the first consumer on that device
    for (const EdgeId edge : graph.out_edges(transfer.producer)) {
      const Place& reader = place[graph.edge(edge).to.index()];
      if (reader.device == transfer.to && (!to || reader.stage < to->stage)) to = reader;
    }
    if (!to) continue;
    const double read_ms = timeline.stages[to->device.index()][to->stage].start_ms;
    trace.arrow(kPlanned, lane_name(from.device.index(), from.stream), transfer.start_ms,
                lane_name(to->device.index(), to->stream), read_ms,
                graph.op(transfer.producer).name);
  }
}

Trace planned_trace(const Graph& graph, const ScheduleFile& file, const CostModel& costs) {
  Trace trace;
  draw_planned(graph, file.schedule, simulate(graph, file.schedule, costs), costs, trace);
  return trace;
}

}  // namespace hios::cli
