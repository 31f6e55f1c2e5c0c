#include "scheduler/requirements.h"

#include <map>
#include <optional>
#include <string>

#include "hios/error.h"

namespace hios::scheduler {
namespace {

/// The operator at which the device is full if all that it can run come to it.
std::optional<OpId> too_much(const Graph& graph, const CostModel& costs, DeviceId device) {
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

std::optional<OpId> cannot_run(const Graph& graph, const CostModel& costs, DeviceId device) {
  for (OpId op : graph.topological()) {
    if (!costs.can_run(op, device)) return op;
  }
  return std::nullopt;
}

}  // namespace

void require_free_placement(const Graph& graph, const CostModel& costs,
                            std::string_view algorithm) {
  const Platform& platform = costs.platform();
  std::map<std::string_view, OpId> labels;
  for (std::size_t i = 0; i < graph.size() && platform.size() > 1; ++i) {
    const Operator& op = graph.op(OpId(i));
    if (op.colocate.empty()) continue;
    const auto [first, is_new] = labels.emplace(op.colocate, OpId(i));
    if (is_new) continue;
    throw InputError(std::string(algorithm) +
                     " cannot keep operators on one device, as `colocate` " + op.colocate +
                     " asks for " + op.name + " and " + graph.op(first->second).name +
                     ": take `sequential` or `ios`, or leave the label out");
  }
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const auto op = too_much(graph, costs, DeviceId(d));
    if (!op) continue;
    throw InputError(std::string(algorithm) + " does not watch memory, and device " +
                     platform.device(DeviceId(d)).name + " would be full at operator " +
                     graph.op(*op).name + ": give it room for all operators (memory_bytes), or 0");
  }
}

DeviceId single_device(const Graph& graph, const CostModel& costs, std::string_view algorithm) {
  std::string complaint;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    const DeviceId device(d);
    const auto unable = cannot_run(graph, costs, device);
    const auto full = unable ? std::nullopt : too_much(graph, costs, device);
    if (!unable && !full) return device;
    if (!complaint.empty()) continue;
    const std::string& name = costs.platform().device(device).name;
    complaint = unable ? name + " cannot run operator " + graph.op(*unable).name
                       : name + " has no memory left for operator " + graph.op(*full).name;
  }
  throw InputError(std::string(algorithm) +
                   " needs one device that can run and hold all operators: " + complaint);
}

}  // namespace hios::scheduler
