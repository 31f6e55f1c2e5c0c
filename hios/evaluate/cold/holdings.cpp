#include "hios/evaluate/cold/holdings.h"

namespace hios {

Holdings::Holdings(const ParameterSets& sets, const Schedule& schedule,
                   const Assignment& assignment)
    : sets_(sets), loads_from_(schedule.devices.size()), on_(schedule.devices.size()) {
  const Weights& weights = *schedule.weights;
  for (const Resident& resident : weights.resident) {
    if (Holding* const holding = known(resident.on, resident.of)) holding->resident = true;
  }
  for (std::size_t lane = 0; lane < weights.lanes.size(); ++lane) {
    for (std::size_t i = 0; i < weights.lanes[lane].size(); ++i) {
      const Load& load = weights.lanes[lane][i];
      Holding* const holding = known(load.to, load.of);
      if (holding && !holding->load) holding->load = loads_.size();
      const auto* source = std::get_if<DeviceId>(&load.from);
      if (Holding* const there = source ? known(*source, load.of) : nullptr) {
        there->passed_on = true;
        loads_from_[source->index()].push_back(loads_.size());
      }
      loads_.push_back({lane, i, &load});
    }
  }
  for (std::size_t i = 0; i < weights.in_place.size(); ++i) {
    in_place_.emplace(weights.in_place[i].of, i);
  }
  for (std::size_t i = 0; i < weights.evictions.size(); ++i) {
    const Eviction& eviction = weights.evictions[i];
    const auto& after = assignment.find(eviction.after);
    if (!after || after->device != eviction.from || !find(eviction.from, eviction.of)) continue;
    Holding* const holding = known(eviction.from, eviction.of);
    if (!holding->exists() || holding->eviction) continue;
    holding->eviction = i;
    holding->last_stage = after->stage;
  }
  for (const ParameterSets::Set& set : sets.sets()) {
    for (const OpId op : set.operators) {
      const auto& assigned = assignment.find(op);
      if (assigned && !in_place_.contains(op)) known(assigned->device, op)->readers.push_back(op);
    }
  }
}

Holding* Holdings::known(DeviceId device, OpId op) {
  const auto set = sets_.of(op);
  if (!set || device.index() >= on_.size()) return nullptr;
  return &on_[device.index()][*set];
}

const Holding* Holdings::find(DeviceId device, std::size_t set) const {
  if (device.index() >= on_.size()) return nullptr;
  const auto found = on_[device.index()].find(set);
  return found == on_[device.index()].end() ? nullptr : &found->second;
}

const Holding* Holdings::find(DeviceId device, OpId op) const {
  const auto set = sets_.of(op);
  return set ? find(device, *set) : nullptr;
}

std::optional<std::size_t> Holdings::read_in_place(OpId op) const {
  const auto found = in_place_.find(op);
  return found == in_place_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace hios
