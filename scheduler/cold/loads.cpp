#include "scheduler/cold/loads.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/graph/parameters.h"
#include "hios/schedule/assignment.h"
#include "scheduler/structures/saturating_sum.h"

// One lane a device: its loads share their route anyway, and in order of use the first stage waits
// least. Devices whose loads share a bus halve each other's rates; one lane for all of them brings
// first what is needed first. That is the order of every published loader (Namkoong et al.,
// "SortingHat", section 3.2).

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
  for (const OpId op : uses) bytes = saturating_sum(bytes, graph.op(op).parameter_bytes);
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

bool copied_by_cores(const Route& route) {
  return route.start_ms > 0 || route.slowdown > 1 || route.load_slowdown > 1;
}

std::vector<std::size_t> sharing_devices(const Platform& platform,
                                         const std::vector<std::optional<StoreId>>& stores) {
  const Topology& topology = *platform.topology();
  std::vector<std::size_t> first(platform.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  const auto buses = [&](std::size_t d) {
    const auto found = stores[d] ? topology.find(*stores[d], DeviceId(d)) : std::nullopt;
    if (!found || copied_by_cores(topology.route(*found))) return std::span<const BusId>();
    return std::span<const BusId>(topology.route(*found).over);
  };
  const auto share = [&](std::size_t a, std::size_t b) {
    return std::ranges::any_of(
        buses(a), [&](BusId bus) { return std::ranges::find(buses(b), bus) != buses(b).end(); });
  };
  for (std::size_t d = 1; d < first.size(); ++d) {
    for (std::size_t other = 0; other < d; ++other) {
      if (first[other] == first[d] || !share(d, other)) continue;
      const std::size_t least = std::min(first[d], first[other]);
      const std::size_t most = std::max(first[d], first[other]);
      std::ranges::replace(first, most, least);
    }
  }
  return first;
}

Schedule with_shared_lanes(Schedule schedule, const Graph& graph, const CostModel& costs) {
  const Timeline resident = simulate(graph, schedule, costs);
  schedule = with_loads(std::move(schedule), graph, costs.platform());
  const Assignment assignment(graph.size(), schedule);
  std::vector<std::optional<StoreId>> stores(costs.platform().size());
  for (const Lane& lane : schedule.weights->lanes) {
    stores[lane.front().to.index()] = std::get<StoreId>(lane.front().from);
  }
  const std::vector<std::size_t> first = sharing_devices(costs.platform(), stores);
  std::vector<Lane> together(costs.platform().size());
  for (const Lane& lane : schedule.weights->lanes) {
    Lane& shared = together[first[lane.front().to.index()]];
    shared.insert(shared.end(), lane.begin(), lane.end());
  }
  const auto start_ms = [&](const Load& load) {
    const AssignedTo& assigned = assignment[load.of];
    return resident.stages[assigned.device.index()][assigned.stage].start_ms;
  };
  for (Lane& lane : together) std::ranges::stable_sort(lane, {}, start_ms);
  std::erase_if(together, [](const Lane& lane) { return lane.empty(); });
  schedule.weights->lanes = std::move(together);
  return schedule;
}

}  // namespace hios::scheduler
