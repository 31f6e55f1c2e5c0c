#include "hios/report/draw_timeline.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "hios/evaluate/simulate.h"
#include "hios/schedule/assignment.h"

namespace hios {
namespace {

// Shorter waits would clutter the picture.
constexpr double kShortestWaitMs = 0.005;

class Drawing {
 public:
  Drawing(const std::string& process, const Graph& graph, const Schedule& schedule,
          const Timeline& timeline, Trace& trace)
      : process_(process),
        graph_(graph),
        schedule_(schedule),
        timeline_(timeline),
        assignment_(graph.size(), schedule),
        trace_(trace) {}

  void draw_operators(DeviceId device, std::size_t s, const CostModel& costs) {
    const Stage& stage = schedule_.stages(device)[s];
    const StageTimes& times = timeline_.stages[device.index()][s];
    double longest_ms = 0;
    for (const Group& group : stage.groups) {
      double alone_ms = 0;
      for (const OpId op : group) alone_ms += costs.operator_ms(op, device);
      longest_ms = std::max(longest_ms, alone_ms);
    }
    const double stretch = longest_ms > 0 ? (times.end_ms - times.start_ms) / longest_ms : 1;
    for (std::size_t g = 0; g < stage.groups.size(); ++g) {
      double at = times.start_ms;
      for (const OpId op : stage.groups[g]) {
        const double end = std::min(times.end_ms, at + stretch * costs.operator_ms(op, device));
        trace_.slice(process_, lane_name(device.index(), g), graph_.op(op).name, at, end);
        at = end;
      }
    }
  }

  void draw_groups(DeviceId device, std::size_t s) {
    const Stage& stage = schedule_.stages(device)[s];
    const StageTimes& times = timeline_.stages[device.index()][s];
    for (std::size_t g = 0; g < stage.groups.size(); ++g) {
      const std::string lane = lane_name(device.index(), g);
      if (g == 0 && times.start_ms - times.awaited_ms > kShortestWaitMs) {
        trace_.slice(process_, lane, "waiting", times.awaited_ms, times.start_ms);
      }
      std::string name;
      for (const OpId op : stage.groups[g])
        name += (name.empty() ? "" : " + ") + graph_.op(op).name;
      trace_.slice(process_, lane, name, times.start_ms, times.end_ms);
    }
  }

  /// Draws a transfer on the lane of its pair, where transfers do not overlap because of
  /// contention.
  void draw_carried(const TransferTimes& transfer) {
    const std::string lane = "rank " + std::to_string(transfer.from.index()) + " to rank " +
                             std::to_string(transfer.to.index());
    trace_.slice(process_, lane, graph_.op(transfer.producer).name, transfer.start_ms,
                 transfer.end_ms);
  }

  void draw_transfer(const TransferTimes& transfer) {
    const AssignedTo& from = assignment_[transfer.producer];
    std::optional<AssignedTo> to;  // the first stage that needs it there
    for (const EdgeId edge : graph_.out_edges(transfer.producer)) {
      const AssignedTo& reader = assignment_[graph_.edge(edge).to];
      if (reader.device == transfer.to && (!to || reader.stage < to->stage)) to = reader;
    }
    if (!to) return;
    // If several stages read the tensor there, end_ms may be for a later one than the first.
    const double read_ms = timeline_.stages[to->device.index()][to->stage].start_ms;
    const double there_ms = std::min(transfer.end_ms, read_ms);
    trace_.arrow(process_, lane_name(from.device.index(), from.group), transfer.start_ms,
                 lane_name(to->device.index(), to->group), there_ms,
                 graph_.op(transfer.producer).name);
  }

  /// Draws a load on its lane.
  void draw_load(const LoadTimes& times, std::span<const Store> stores) {
    const Load& load = schedule_.weights->lanes[times.lane][times.index];
    const std::string lane = loads_lane_name(times.lane);
    if (times.start_ms - times.ready_ms > kShortestWaitMs) {
      trace_.slice(process_, lane, "waiting", times.ready_ms, times.start_ms);
    }
    trace_.slice(process_, lane, "load " + graph_.op(load.of).name, times.start_ms, times.end_ms,
                 Json{{"from", source_name(load.from, stores)},
                      {"to", "rank " + std::to_string(load.to.index())},
                      {"size_bytes", times.size_bytes}});
  }

 private:
  static std::string source_name(const Holder& from, std::span<const Store> stores) {
    if (const auto* rank = std::get_if<DeviceId>(&from)) {
      return "rank " + std::to_string(rank->index());
    }
    return stores[std::get<StoreId>(from).index()].name;
  }

  const std::string& process_;
  const Graph& graph_;
  const Schedule& schedule_;
  const Timeline& timeline_;
  const Assignment assignment_;
  Trace& trace_;
};

}  // namespace

std::string lane_name(std::size_t rank, std::size_t stream) {
  return "rank " + std::to_string(rank) + " stream " + std::to_string(stream);
}

std::string loads_lane_name(std::size_t lane) { return "loads " + std::to_string(lane); }

void draw_timeline(const std::string& process, const Graph& graph, const Schedule& schedule,
                   const Timeline& timeline, const CostModel* costs, std::span<const Store> stores,
                   Trace& trace) {
  Drawing drawing(process, graph, schedule, timeline, trace);
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
      if (costs) {
        drawing.draw_operators(DeviceId(d), s, *costs);
      } else {
        drawing.draw_groups(DeviceId(d), s);
      }
    }
  }
  const bool shared = costs && costs->platform().contention() != Contention::kNone;
  for (const TransferTimes& transfer : timeline.transfers) {
    if (shared) drawing.draw_carried(transfer);
    drawing.draw_transfer(transfer);
  }
  for (const LoadTimes& load : timeline.loads) drawing.draw_load(load, stores);
}

Trace planned_trace(const Graph& graph, const Schedule& schedule, const CostModel& costs) {
  Trace trace;
  const Topology* const topology = costs.platform().topology();
  const std::span<const Store> stores = topology ? topology->stores() : std::span<const Store>();
  draw_timeline("planned", graph, schedule, simulate(graph, schedule, costs), &costs, stores,
                trace);
  return trace;
}

}  // namespace hios
