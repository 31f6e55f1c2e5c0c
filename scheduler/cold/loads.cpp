#include "scheduler/cold/loads.h"

#include <optional>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/graph/parameters.h"

// One lane a device: its loads share their route anyway, and in order of use the first stage waits
// least. That is the order of every published loader (Namkoong et al., "SortingHat", section 3.2).

namespace hios::scheduler {

std::vector<OpId> first_uses(const std::vector<Stage>& stages, const ParameterSets& parameters) {
  std::vector<OpId> uses;
  std::vector<bool> used(parameters.sets().size(), false);
  for (const Stage& stage : stages) {
    for (const Group& group : stage.groups) {
      for (const OpId op : group) {
        const auto set = parameters.of(op);
        if (!set || used[*set]) continue;
        used[*set] = true;
        uses.push_back(op);
      }
    }
  }
  return uses;
}

std::optional<StoreId> nearest_store(const Platform& platform, DeviceId device, Bytes bytes) {
  const Topology& topology = *platform.topology();
  std::optional<StoreId> nearest;
  double least_ms = 0;
  for (std::size_t s = 0; s < topology.stores().size(); ++s) {
    const auto route = topology.find(StoreId(s), device);
    if (!route) continue;
    const double ms = topology.alone_ms(*route, bytes);
    if (nearest && ms >= least_ms) continue;
    nearest = StoreId(s);
    least_ms = ms;
  }
  return nearest;
}

StoreId require_store(const Graph& graph, const Platform& platform, DeviceId device,
                      const std::vector<OpId>& uses) {
  Bytes bytes = 0;
  for (const OpId op : uses) bytes += graph.op(op).parameter_bytes;
  if (const auto store = nearest_store(platform, device, bytes)) return *store;
  throw InputError("no route leads from a store to '" + printable(platform.device(device).name) +
                   "', which needs the parameters of '" + printable(graph.op(uses.front()).name) +
                   "'; give the platform one, or run on other devices");
}

Schedule with_loads(Schedule schedule, const Graph& graph, const Platform& platform,
                    LoadOrder order) {
  const ParameterSets parameters(graph);
  Weights weights;
  weights.load_first = order == LoadOrder::kLoadFirst;
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    const DeviceId device(d);
    const std::vector<OpId> uses = first_uses(schedule.devices[d], parameters);
    if (uses.empty()) continue;
    const StoreId store = require_store(graph, platform, device, uses);
    Lane lane;
    for (const OpId op : uses) lane.push_back({op, store, device});
    weights.lanes.push_back(std::move(lane));
  }
  schedule.weights = std::move(weights);
  return schedule;
}

}  // namespace hios::scheduler
