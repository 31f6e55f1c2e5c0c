#include "hios/evaluate/cold/lanes.h"

#include <stdexcept>

#include "hios/base/error.h"

// A device's memory holds the outputs of all its operators from the beginning, as validate() counts
// them, and parameters from the start of their load to their eviction. A load that finds no room
// lets later lanes go first if theirs fits: it would wait in any case.

namespace hios {

Lanes::Lanes(const Graph& graph, const Schedule& schedule, const Platform& platform)
    : graph_(graph),
      platform_(platform),
      topology_(*platform.topology()),
      sets_(graph),
      holdings_(platform.size() * sets_.sets().size()),
      used_bytes_(platform.size(), 0) {
  for (const Lane& lane : schedule.weights->lanes) plan_lane(lane);
  fill_memory(schedule);
}

std::size_t Lanes::set_of(OpId op) const {
  const auto set = sets_.of(op);
  if (!set) {
    throw std::logic_error("simulate: '" + printable(graph_.op(op).name) + "' has no parameters");
  }
  return *set;
}

void Lanes::plan_lane(const Lane& lane) {
  State& state = lanes_.emplace_back();
  for (const Load& load : lane) {
    const auto route = topology_.find(load.from, load.to);
    const std::size_t set = set_of(load.of);
    if (!route) {
      throw std::logic_error("simulate: no route for the parameters '" +
                             printable(sets_.sets()[set].name) + "' to '" +
                             printable(platform_.device(load.to).name) + "'");
    }
    const LoadTimes times = {.lane = lanes_.size() - 1,
                             .index = state.loads.size(),
                             .size_bytes = sets_.sets()[set].size_bytes};
    state.loads.push_back({set, *route, times});
  }
  loads_left_ += lane.size();
}

void Lanes::fill_memory(const Schedule& schedule) {
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      for (const Group& group : stage.groups) {
        for (const OpId op : group) used_bytes_[d] += graph_.op(op).memory_bytes;
      }
    }
  }
  for (const Resident& resident : schedule.weights->resident) {
    Holding& holding = of(resident.on, set_of(resident.of));
    if (holding.held) continue;  // another operator's, which shares them
    holding.held = true;
    used_bytes_[resident.on.index()] += sets_.sets()[set_of(resident.of)].size_bytes;
  }
}

bool Lanes::source_holds(const Planned& load) const {
  const auto* device = std::get_if<DeviceId>(&topology_.route(load.route).from);
  return !device || holds(*device, load.set);
}

bool Lanes::has_room(const Planned& load) const {
  const DeviceId to = topology_.route(load.route).to;
  const Bytes limit = platform_.device(to).memory_bytes;
  const Bytes used = used_bytes_[to.index()];
  return limit == 0 || (used <= limit && load.times.size_bytes <= limit - used);
}

std::vector<Lanes::Started> Lanes::start(double now_ms) {
  std::vector<Started> started;
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    State& lane = lanes_[l];
    if (lane.under_way || lane.next == lane.loads.size()) continue;
    Planned& load = lane.loads[lane.next];
    if (!source_holds(load) || !has_room(load)) continue;
    lane.under_way = true;
    load.times.ready_ms = lane.free_ms;
    load.times.start_ms = now_ms;
    used_bytes_[topology_.route(load.route).to.index()] += load.times.size_bytes;
    started.push_back({l, load.route, load.times.size_bytes, lane.next == 0});
  }
  return started;
}

DeviceId Lanes::end(std::size_t lane, double now_ms) {
  State& state = lanes_[lane];
  Planned& load = state.loads[state.next++];
  load.times.end_ms = state.free_ms = now_ms;
  state.under_way = false;
  --loads_left_;
  const DeviceId to = topology_.route(load.route).to;
  of(to, load.set) = {true, now_ms};
  return to;
}

void Lanes::evict(DeviceId device, std::size_t set) {
  Holding& holding = of(device, set);
  if (!holding.held) {
    throw std::logic_error("simulate: '" + printable(platform_.device(device).name) +
                           "' evicts the parameters '" + printable(sets_.sets()[set].name) +
                           "', which it does not hold");
  }
  holding.held = false;
  used_bytes_[device.index()] -= sets_.sets()[set].size_bytes;
}

std::optional<std::string> Lanes::waiting() const {
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    const State& lane = lanes_[l];
    if (lane.next == lane.loads.size()) continue;
    const Planned& load = lane.loads[lane.next];
    const Route& route = topology_.route(load.route);
    const std::string reason =
        source_holds(load)
            ? "for room there"
            : "until '" + printable(platform_.device(std::get<DeviceId>(route.from)).name) +
                  "' holds them";
    return "load " + std::to_string(lane.next) + " of lane " + std::to_string(l) +
           ", of the parameters '" + printable(sets_.sets()[load.set].name) + "' to '" +
           printable(platform_.device(route.to).name) + "', waits " + reason;
  }
  return std::nullopt;
}

std::vector<LoadTimes> Lanes::times() const {
  std::vector<LoadTimes> times;
  for (const State& lane : lanes_) {
    for (const Planned& load : lane.loads) times.push_back(load.times);
  }
  return times;
}

}  // namespace hios
