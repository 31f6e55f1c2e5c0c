#include "scheduler/list/requirements.h"

#include <optional>
#include <string>

#include "hios/base/error.h"
#include "scheduler/list/placement.h"

namespace hios::scheduler {
namespace {

/// Returns the first operator, in topological order, that exceeds the device's memory if all
/// operators that it can run are placed there.
std::optional<OpId> first_over_memory(const Graph& graph, const CostModel& costs, DeviceId device) {
  const Bytes limit = costs.platform().device(device).memory_bytes;
  if (limit == 0) return std::nullopt;
  Bytes room = limit;
  for (OpId op : graph.topological()) {
    if (!costs.can_run(op, device)) continue;
    for (Bytes bytes : {graph.op(op).memory_bytes, graph.op(op).parameter_bytes}) {
      if (bytes > room) return op;
      room -= bytes;
    }
  }
  return std::nullopt;
}

std::optional<OpId> first_it_cannot_run(const Graph& graph, const CostModel& costs,
                                        DeviceId device) {
  for (OpId op : graph.topological()) {
    if (!costs.can_run(op, device)) return op;
  }
  return std::nullopt;
}

}  // namespace

void require_placeable(const Graph& graph, const CostModel& costs, std::string_view algorithm) {
  const Placement empty(graph, costs);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId op(i);
    bool able = false, takes = false;
    for (std::size_t d = 0; d < costs.platform().size() && !takes; ++d) {
      able = able || empty.able(op, DeviceId(d));
      takes = empty.may_go(op, DeviceId(d));
    }
    if (takes) continue;
    std::string text = std::string(algorithm) + ": no device can ";
    text += able ? "hold operator " : "run operator ";
    text += graph.op(op).name;
    if (empty.unit(op)) text += " and the others that `colocate` labels " + graph.op(op).colocate;
    if (able) text += ", " + std::to_string(empty.bytes(op)) + " bytes: give one more memory_bytes";
    throw InputError(text);
  }
}

DeviceId single_device(const Graph& graph, const CostModel& costs, std::string_view algorithm) {
  std::string message;
  std::optional<DeviceId> fastest;
  double least_ms = 0;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    const DeviceId device(d);
    const auto unable = first_it_cannot_run(graph, costs, device);
    const auto full = unable ? std::nullopt : first_over_memory(graph, costs, device);
    if (!unable && !full) {
      double ms = 0;
      for (const OpId op : graph.topological()) ms += costs.operator_ms(op, device);
      if (!fastest || ms < least_ms) {
        fastest = device;
        least_ms = ms;
      }
      continue;
    }
    if (!message.empty()) continue;
    const std::string& name = costs.platform().device(device).name;
    message = unable ? name + " cannot run operator " + graph.op(*unable).name
                     : name + " has no memory left for operator " + graph.op(*full).name;
  }
  if (fastest) return *fastest;
  throw InputError(std::string(algorithm) +
                   " needs one device that can run and hold all operators: " + message);
}

}  // namespace hios::scheduler
