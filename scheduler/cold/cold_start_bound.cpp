#include "scheduler/cold/cold_start_bound.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/graph/parameters.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/unlimited_costs.h"
#include "scheduler/cold/bounds/load_bounds.h"
#include "scheduler/cold/bounds/moved_sets.h"

// The bounds themselves are in the files of their names, and what they share in moved_sets.cpp and
// store_cut.cpp. Tests: tests/scheduler/cold/bounds_test.cpp.

namespace hios::scheduler {
void check_in_place(const Graph& graph, const CostModel& costs) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (std::size_t d = 0; d < costs.platform().size(); ++d) {
      const Device& device = costs.platform().device(DeviceId(d));
      const auto ms = in_place_ms(graph.op(OpId(v)), device);
      if (!ms || !costs.can_run(OpId(v), DeviceId(d))) continue;
      if (*ms >= costs.operator_ms(OpId(v), DeviceId(d))) continue;
      throw InputError("operator '" + printable(graph.op(OpId(v)).name) + "' takes less on '" +
                       printable(device.name) +
                       "' in place than with its parameters there; in_place_ms must not be below "
                       "time_ms");
    }
  }
}

std::vector<DeviceId> used_devices(const Graph& graph, const AllowedDevices& allowed) {
  std::vector<DeviceId> devices;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& own = allowed.devices(OpId(v));
    devices.insert(devices.end(), own.begin(), own.end());
  }
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

namespace {

/// Returns the flow shop's bound of the operators that each device alone can run.
double confined_shop_ms(const Graph& graph, const CostModel& costs, const AllowedDevices& allowed,
                        BoundGraphs& graphs, std::span<const Resident> resident) {
  std::vector<std::vector<OpId>> confined(costs.platform().size());
  for (const OpId op : graph.topological()) {
    const auto& devices = allowed.devices(op);
    if (devices.size() == 1) confined[devices.front().index()].push_back(op);
  }
  double longest_ms = 0;
  for (std::size_t d = 0; d < confined.size(); ++d) {
    if (confined[d].empty()) continue;
    const DeviceId into[] = {DeviceId(d)};
    const MovedSets moved(graph, costs, resident, into);
    longest_ms = std::max(longest_ms, flow_shop_ms(graphs.subgraph(std::move(confined[d])), moved));
  }
  return longest_ms;
}

/// Returns cold_start_bounds(). REQUIRES: costs without memory limits.
std::vector<LowerBound> bounds_of_loads(const Graph& graph, const CostModel& costs,
                                        std::span<const Resident> resident) {
  check_in_place(graph, costs);
  const Shares shares(graph, costs);
  AllowedDevices allowed(graph, costs);
  BoundGraphs graphs(graph, shares, allowed);
  const BoundGraph whole = graphs.whole();
  const std::vector<DeviceId> into = used_devices(graph, allowed);
  const MovedSets moved(graph, costs, resident, into);
  const double flow_shop = std::max(flow_shop_ms(whole, moved),
                                    confined_shop_ms(graph, costs, allowed, graphs, resident));
  return {{loads_ms(graph, whole, moved), "loads"},
          {arrivals_ms(graph, whole, moved), "arrivals"},
          {flow_shop, "flow_shop"}};
}

}  // namespace

std::vector<LowerBound> cold_start_bounds(const Graph& graph, const CostModel& costs,
                                          std::span<const Resident> resident) {
  const UnlimitedCosts unlimited(costs);
  return bounds_of_loads(graph, unlimited.costs(), resident);
}

LowerBound cold_start_bound(const Graph& graph, const CostModel& costs, const Deadline& deadline,
                            std::span<const Resident> resident) {
  const UnlimitedCosts unlimited(costs);
  std::vector<LowerBound> of_loads = bounds_of_loads(graph, unlimited.costs(), resident);
  LowerBound largest = lower_bound(graph, unlimited.costs(), deadline);
  for (LowerBound& bound : of_loads) {
    if (bound.ms > largest.ms) largest = std::move(bound);
  }
  return largest;
}

}  // namespace hios::scheduler
