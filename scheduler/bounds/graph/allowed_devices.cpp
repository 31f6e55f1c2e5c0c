#include "scheduler/bounds/graph/allowed_devices.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

#include "scheduler/list/placement.h"
#include "scheduler/structures/saturating_sum.h"

// Operators of a label are placed together, on a device that can run all of them and has memory for
// their sum. Most graphs have few different device sets, so relations are stored per set.

namespace hios::scheduler {
namespace {

/// Operators that are placed together: all of a label, or a single one.
struct Unit {
  std::vector<OpId> operators;
  Bytes memory_bytes = 0;  // saturated
};

std::vector<Unit> units_of(const Graph& graph) {
  std::vector<Unit> result;
  std::map<std::string_view, std::size_t> by_label;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Operator& op = graph.op(OpId(i));
    std::size_t unit = result.size();
    if (!op.colocate.empty()) unit = by_label.emplace(op.colocate, unit).first->second;
    if (unit == result.size()) result.emplace_back();
    Unit& own = result[unit];
    own.operators.push_back(OpId(i));
    own.memory_bytes = saturating_sum(own.memory_bytes, held_bytes(op));
  }
  return result;
}

std::vector<DeviceId> possible_devices(const Unit& unit, const CostModel& costs) {
  std::vector<DeviceId> able;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    const DeviceId device(d);
    const Bytes limit = costs.platform().device(device).memory_bytes;
    const bool fits = limit == 0 || unit.memory_bytes <= limit;
    const bool runs = std::all_of(unit.operators.begin(), unit.operators.end(),
                                  [&](OpId op) { return costs.can_run(op, device); });
    if (fits && runs) able.push_back(device);
  }
  return able;
}

std::vector<DeviceId> devices_that_run(OpId op, const CostModel& costs) {
  std::vector<DeviceId> able;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    if (costs.can_run(op, DeviceId(d))) able.emplace_back(d);
  }
  return able;
}

bool intersect(const std::vector<DeviceId>& a, const std::vector<DeviceId>& b) {
  std::vector<DeviceId> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return !common.empty();
}

/// Returns the first two devices of each class of transfers: between two sets of devices, the
/// cheapest pair of different ones is among these, since all of a class exchange tensors alike.
std::vector<DeviceId> two_of_each_class(const std::vector<DeviceId>& devices,
                                        const CostModel& costs) {
  std::map<std::uint32_t, int> taken;
  std::vector<DeviceId> members;
  for (DeviceId device : devices) {
    if (++taken[costs.exchange_class(device)] <= 2) members.push_back(device);
  }
  return members;
}

}  // namespace

AllowedDevices::AllowedDevices(const Graph& graph, const CostModel& costs)
    : graph_(&graph),
      costs_(&costs),
      set_of_(graph.size()),
      colocation_(graph.size(), kNoColocation) {
  std::map<std::vector<DeviceId>, std::size_t> known;
  for (const Unit& unit : units_of(graph)) {
    const std::vector<DeviceId> able = possible_devices(unit, costs);
    for (OpId op : unit.operators) {
      std::vector<DeviceId> own = able.empty() ? devices_that_run(op, costs) : able;
      const auto [set, is_new] = known.emplace(std::move(own), sets_.size());
      if (is_new) sets_.push_back(set->first);
      set_of_[op.index()] = set->second;
    }
  }
  for (const auto& set : sets_) members_.push_back(two_of_each_class(set, costs));
  constexpr std::size_t kMostSets = 256;
  for (const auto& a : sets_) {
    if (sets_.size() > kMostSets) break;
    for (const auto& b : sets_) share_.push_back(intersect(a, b));
  }
  number_colocations();
}

bool AllowedDevices::may_share(OpId a, OpId b) const {
  const std::size_t one = set_of(a), other = set_of(b);
  if (one == other) return true;
  return share_.empty() ? intersect(sets_[one], sets_[other]) : share_[one * sets_.size() + other];
}

void AllowedDevices::number_colocations() {
  std::map<std::string_view, std::uint32_t> labels;
  for (std::size_t i = 0; i < graph_->size(); ++i) {
    const std::string& label = graph_->op(OpId(i)).colocate;
    const std::vector<DeviceId>& able = devices(OpId(i));
    if (able.size() == 1) {
      colocation_[i] = static_cast<std::uint32_t>(able.front().index());
    } else if (!label.empty()) {
      const auto next = static_cast<std::uint32_t>(costs_->platform().size() + labels.size());
      colocation_[i] = labels.emplace(label, next).first->second;
    }
  }
}

double AllowedDevices::cheapest_ms(EdgeId edge) const {
  const Edge& e = graph_->edge(edge);
  double least = std::numeric_limits<double>::infinity();
  for (DeviceId from : members_[set_of(e.from)]) {
    for (DeviceId to : members_[set_of(e.to)]) {
      if (from != to) least = std::min(least, costs_->transfer_ms(edge, from, to));
    }
  }
  return least;
}

double AllowedDevices::transfer_ms(EdgeId edge) {
  const Edge& e = graph_->edge(edge);
  if (e.transfer_ms) return *e.transfer_ms;
  if (e.transfer_by_pair) return cheapest_ms(edge);  // costs of this edge alone
  const std::tuple key(set_of(e.from), set_of(e.to), e.size_bytes);
  const auto found = cheapest_.find(key);
  if (found != cheapest_.end()) return found->second;
  return cheapest_.emplace(key, cheapest_ms(edge)).first->second;
}

}  // namespace hios::scheduler
