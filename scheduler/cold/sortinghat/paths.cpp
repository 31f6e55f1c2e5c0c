#include "scheduler/cold/sortinghat/paths.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "scheduler/cold/loads.h"
#include "scheduler/structures/numbers.h"
#include "scheduler/structures/saturating_sum.h"

// The constants of Table 1 (Namkoong et al., "SortingHat"). The paper has one DRAM and PCIe buses;
// a platform here has stores and routes over any buses. Its ParentPCIe are sets of devices of which
// no two can load at the same time without slowing each other: two on one PCIe bus are one set, two
// on different buses below one wide memory bus are not. A set loads for one device at a time, since
// "a single GPU should exclusively utilize the PCIe bus" (section 3.2).

namespace hios::scheduler::sortinghat {
namespace {

constexpr double kDirectLink = 1.5;  ///< section 3.4: a direct link may be used both ways at once
constexpr double kSharedRate = 1 - 1e-9;

/// Replaces finite times by their mean.
void take_mean(std::vector<double>& ms) {
  double sum = 0, count = 0;
  for (const double each : ms) {
    if (!std::isfinite(each)) continue;
    sum += each;
    ++count;
  }
  for (double& each : ms) {
    if (std::isfinite(each)) each = sum / count;
  }
}

bool uses(std::span<const BusId> over, BusId bus) {
  return std::ranges::find(over, bus) != over.end();
}

}  // namespace

Paths::Paths(const Graph& graph, const CostModel& costs, const PathRules& rules)
    : graph_(graph), costs_(costs), topology_(*costs.platform().topology()), rules_(rules) {
  find_stores();
  find_labels();
  find_buses();
}

void Paths::find_stores() {
  Bytes bytes = 0;
  for (const Operator& op : graph_.operators()) bytes = saturating_sum(bytes, op.parameter_bytes);
  for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
    stores_.push_back(nearest_store(costs_.platform(), DeviceId(d), bytes));
  }
}

void Paths::find_labels() {
  const std::size_t devices = costs_.platform().size();
  for (std::size_t v = 0; v < graph_.size(); ++v) {
    const std::string& label = graph_.op(OpId(v)).colocate;
    if (label.empty()) continue;
    std::vector<bool>& able = able_.try_emplace(label, devices, true).first->second;
    for (std::size_t d = 0; d < devices; ++d) {
      if (!costs_.can_run(OpId(v), DeviceId(d))) able[d] = false;
    }
  }
}

/// Returns true if the device can run the operator and all others of its label.
bool Paths::can_run(OpId op, std::size_t device) const {
  const auto label = able_.find(graph_.op(op).colocate);
  return label == able_.end() ? costs_.can_run(op, DeviceId(device)) : label->second[device];
}

bool Paths::slow_each_other(std::size_t a, std::size_t b) const {
  if (!stores_[a] || !stores_[b]) return false;
  const RouteId first = *topology_.find(*stores_[a], DeviceId(a));
  const RouteId second = *topology_.find(*stores_[b], DeviceId(b));
  const double together = topology_.alone_gb_per_s(first) + topology_.alone_gb_per_s(second);
  return std::ranges::any_of(topology_.route(first).over, [&](BusId bus) {
    return uses(topology_.route(second).over, bus) &&
           topology_.bus(bus).gb_per_s < together * kSharedRate;
  });
}

void Paths::find_buses() {
  const std::size_t devices = costs_.platform().size();
  for (std::size_t d = 0; d < devices; ++d) {
    std::size_t bus = buses_;
    for (std::size_t other = 0; other < d && !rules_.own_bus; ++other) {
      if (!slow_each_other(other, d) || bus_of_[other] == bus) continue;
      if (bus == buses_) {
        bus = bus_of_[other];
      } else {  // the device joins two sets
        const std::size_t joined = bus_of_[other];
        std::ranges::replace(bus_of_, joined, bus);
      }
    }
    bus_of_.push_back(bus);
    buses_ += bus == buses_;
  }
  std::vector<std::size_t> numbers;  // without those of sets that were joined
  for (std::size_t& bus : bus_of_) {
    auto found = std::ranges::find(numbers, bus);
    const auto number = static_cast<std::size_t>(found - numbers.begin());
    if (found == numbers.end()) numbers.push_back(bus);
    bus = number;
  }
  buses_ = numbers.size();
}

std::size_t Paths::sharing_bus(std::size_t device) const {
  return static_cast<std::size_t>(std::ranges::count(bus_of_, bus_of_[device]));
}

/// Returns true if no route from a store uses a bus of the route between two devices.
bool Paths::is_direct(std::size_t from, std::size_t to) const {
  const auto route = topology_.find(DeviceId(from), DeviceId(to));
  if (!route) return true;
  return std::ranges::none_of(topology_.routes(), [&](const Route& other) {
    return std::holds_alternative<StoreId>(other.from) &&
           std::ranges::any_of(topology_.route(*route).over,
                               [&](BusId bus) { return uses(other.over, bus); });
  });
}

std::vector<double> Paths::of_devices(std::vector<double> ms) const {
  if (rules_.mean_speeds) take_mean(ms);
  return ms;
}

std::vector<double> Paths::of_pairs(std::vector<double> ms) const {
  const std::size_t devices = costs_.platform().size();
  for (std::size_t from = 0; from < devices && rules_.paper_contention; ++from) {
    for (std::size_t to = 0; to < devices; ++to) {
      ms[from * devices + to] *= is_direct(from, to) ? kDirectLink : static_cast<double>(devices);
    }
  }
  if (rules_.mean_speeds) take_mean(ms);
  return ms;
}

std::vector<double> Paths::loaded_ms(OpId op) const {
  std::vector<double> ms;
  for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
    ms.push_back(can_run(op, d) ? costs_.operator_ms(op, DeviceId(d)) : kInfinity);
  }
  return of_devices(std::move(ms));
}

std::vector<double> Paths::in_place_ms(OpId op) const {
  if (graph_.op(op).parameter_bytes == 0) return loaded_ms(op);
  std::vector<double> ms;
  for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
    const auto given = hios::in_place_ms(graph_.op(op), costs_.platform().device(DeviceId(d)));
    ms.push_back(kInfinity);
    if (!given || !stores_[d] || !can_run(op, d)) continue;
    const RouteId route = *topology_.find(*stores_[d], DeviceId(d));
    ms.back() = std::max(*given, topology_.alone_ms(route, in_place_bytes(graph_.op(op))));
    // Section 3.4 takes the worst of PCIe contention.
    if (rules_.paper_contention) ms.back() *= 2 * static_cast<double>(sharing_bus(d));
  }
  return of_devices(std::move(ms));
}

std::vector<double> Paths::load_ms(Bytes bytes) const {
  std::vector<double> ms;
  for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
    ms.push_back(stores_[d] ? topology_.alone_ms(*topology_.find(*stores_[d], DeviceId(d)), bytes)
                            : kInfinity);
  }
  return of_devices(std::move(ms));
}

std::vector<double> Paths::copy_ms(Bytes bytes) const {
  const std::size_t devices = costs_.platform().size();
  std::vector<double> ms(devices * devices, kInfinity);
  for (std::size_t from = 0; from < devices; ++from) {
    for (std::size_t to = 0; to < devices; ++to) {
      const auto route = topology_.find(DeviceId(from), DeviceId(to));
      if (route) ms[from * devices + to] = topology_.alone_ms(*route, bytes);
    }
  }
  return of_pairs(std::move(ms));
}

std::vector<double> Paths::copy_ms(const std::vector<EdgeId>& edges) const {
  const std::size_t devices = costs_.platform().size();
  std::vector<double> ms(devices * devices, kInfinity);
  for (std::size_t from = 0; from < devices; ++from) {
    for (std::size_t to = 0; to < devices; ++to) {
      if (from == to) continue;
      double& longest = ms[from * devices + to] = 0;
      for (const EdgeId e : edges) {
        longest = std::max(longest, costs_.transfer_ms(e, DeviceId(from), DeviceId(to)));
      }
    }
  }
  return of_pairs(std::move(ms));
}

}  // namespace hios::scheduler::sortinghat
