// The order of the limits is the order in which another schedule could help. None is shorter than
// the longest path. Memory and work leave room to more devices only. Transfers and waits leave room
// to another schedule of the same devices. A device that runs the longest path is always busy, so
// the path comes before the work.
#include "hios/evaluate/limits/limits.h"

#include <algorithm>
#include <numeric>

namespace hios {
namespace {

/// Returns the bytes that a device holds for each operator.
Bytes bytes_of(const Operator& op) { return op.memory_bytes + op.parameter_bytes; }

double total_ms(const DeviceTimes& times) {
  return times.busy_ms + times.waiting_ms() + times.idle_ms;
}

/// Returns true if operators of the busiest device could end earlier on another device, by the time
/// that it is busy, and the memory of these devices is too small for each of them.
bool memory_is_full(const TimedSchedule& timed, DeviceId busiest) {
  const Graph& graph = *timed.graph;
  const CostModel& costs = *timed.costs;
  const auto devices = costs.platform().devices();
  // With weights, parameters come and go, and some are read in place.
  if (graph.batching() || timed.schedule->weights ||
      std::ranges::all_of(devices, [](const Device& each) { return each.memory_bytes == 0; })) {
    return false;
  }
  std::vector<Bytes> held(devices.size(), 0);
  std::vector<OpId> candidates;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (const Stage& stage : timed.schedule->devices[d]) {
      for (const Group& group : stage.groups) {
        for (const OpId op : group) held[d] += bytes_of(graph.op(op));
        if (DeviceId(d) == busiest) candidates.insert(candidates.end(), group.begin(), group.end());
      }
    }
  }
  bool kept_out = false;
  const double most_ms = timed.devices[busiest.index()].busy_ms;
  for (const OpId op : candidates) {
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const double there_ms = timed.devices[d].busy_ms + costs.operator_ms(op, DeviceId(d));
      if (DeviceId(d) == busiest || !(there_ms < most_ms)) continue;
      const Bytes limit = devices[d].memory_bytes;
      if (limit == 0 || held[d] + bytes_of(graph.op(op)) <= limit) return false;
      kept_out = true;
    }
  }
  return kept_out;
}

Limit limit_of(const Limits& limits, const TimedSchedule& timed, std::string_view bound) {
  if (limits.path.ms >= kNearLatency * limits.latency_ms) return Limit::kLongestPath;
  if (timed.costs && (bound == "memory" || memory_is_full(timed, limits.busiest))) {
    return Limit::kMemory;
  }
  if (limits.busy_share >= kNearLatency) return Limit::kWork;
  const bool loads = limits.chain.loads_ms > limits.chain.transfers_ms;
  if (loads && limits.chain.loads_ms >= kMuchOfChain * limits.latency_ms) return Limit::kLoads;
  const bool much = limits.chain.transfers_ms >= kMuchOfChain * limits.latency_ms;
  return much ? Limit::kTransfers : Limit::kWaits;
}

}  // namespace

std::string_view to_string(Limit limit) {
  switch (limit) {
    case Limit::kLongestPath:
      return "longest_path";
    case Limit::kMemory:
      return "memory";
    case Limit::kWork:
      return "work";
    case Limit::kLoads:
      return "loads";
    case Limit::kTransfers:
      return "transfers";
    case Limit::kWaits:
      break;
  }
  return "waits";
}

Limits limits_of(const TimedSchedule& timed, std::span<const double> operator_ms,
                 std::string_view bound) {
  Limits limits;
  limits.latency_ms = timed.timeline->latency_ms;
  limits.path = longest_path(*timed.graph, operator_ms);
  limits.work_ms = std::accumulate(operator_ms.begin(), operator_ms.end(), 0.0);
  limits.chain = critical_chain(*timed.graph, *timed.schedule, *timed.timeline, timed.costs);
  for (std::size_t d = 0; d < timed.devices.size(); ++d) {
    const DeviceTimes& times = timed.devices[d];
    limits.devices_used += !timed.schedule->devices[d].empty();
    const double whole_ms = total_ms(times);
    const double share = whole_ms > 0 ? times.busy_ms / whole_ms : 0;
    if (share <= limits.busy_share) continue;
    limits.busy_share = share;
    limits.busiest = DeviceId(d);
  }
  limits.limit = limit_of(limits, timed, bound);
  return limits;
}

}  // namespace hios
