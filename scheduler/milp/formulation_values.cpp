// Part of scheduler/milp/formulation.h: converts schedules to values and values to schedules.

#include <algorithm>
#include <numeric>
#include <tuple>

#include "hios/evaluate/simulate.h"
#include "scheduler/milp/formulation.h"

namespace hios::scheduler::milp {

/// Returns, by device of the schedule, the device of the formulation that represents it: among
/// interchangeable devices, the most loaded is first, as the symmetry rows require.
std::vector<std::size_t> Formulation::device_order(
    const std::vector<std::vector<std::size_t>>& work, const CostModel& costs) const {
  std::vector<std::size_t> stands_for(horizon_.devices());
  std::iota(stands_for.begin(), stands_for.end(), 0);
  if (symmetry_ == Symmetry::kNone) return stands_for;
  const auto weight = [&](std::size_t d) {
    double sum = 0;
    for (std::size_t v : work[d]) {
      sum += symmetry_ == Symmetry::kTasks ? 1 : costs.operator_ms(horizon_.op(v), DeviceId(d));
    }
    return sum;
  };
  for (const auto& members : classes_) {
    std::vector<std::size_t> sorted = members;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
    for (std::size_t i = 0; i < members.size(); ++i) stands_for[sorted[i]] = members[i];
  }
  return stands_for;
}

std::vector<double> Formulation::values(const Schedule& schedule, const CostModel& costs) const {
  const Timeline timeline = simulate(costs.graph(), schedule, costs);
  std::vector<double> values(program_.columns.size(), 0);
  std::vector<std::vector<std::size_t>> work(horizon_.devices());
  std::vector<std::size_t> device(horizon_.operators());
  for (std::size_t d = 0; d < horizon_.devices(); ++d) {
    const auto& stages = schedule.stages(DeviceId(d));
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const std::size_t v = horizon_.position(stages[s].groups.front().front());
      work[d].push_back(v);
      device[v] = d;
      values[starts_[v]] = scaled(timeline.stages[d][s].start_ms);
    }
  }
  const std::vector<std::size_t> stands_for = device_order(work, costs);
  for (std::size_t& d : device) d = stands_for[d];
  values[end_] = scaled(timeline.latency_ms);
  std::vector<std::size_t> turn(horizon_.operators());
  for (const auto& order : work) {
    for (std::size_t i = 0; i < order.size(); ++i) turn[order[i]] = i;
  }
  set_placement(device, turn, values);
  if (links_) links_->set(*this, timeline, stands_for, device, values);
  return values;
}

std::vector<double> Formulation::values(const std::vector<std::size_t>& device,
                                        const std::vector<double>& start_ms, double end_ms) const {
  std::vector<double> values(program_.columns.size(), 0);
  std::vector<std::size_t> order(device.size()), turn(device.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = [&](std::size_t v) { return start_ms[v] + horizon_.time_ms(v, device[v]); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(start_ms[a], end(a)) < std::pair(start_ms[b], end(b));
  });
  for (std::size_t i = 0; i < order.size(); ++i) turn[order[i]] = i;
  for (std::size_t v = 0; v < device.size(); ++v) values[starts_[v]] = scaled(start_ms[v]);
  values[end_] = scaled(end_ms);
  set_placement(device, turn, values);
  return values;
}

/// Sets the columns of placement and order. `turn` is smaller for operators earlier on a device.
void Formulation::set_placement(const std::vector<std::size_t>& device,
                                const std::vector<std::size_t>& turn,
                                std::vector<double>& values) const {
  for (std::size_t v = 0; v < device.size(); ++v) {
    if (const auto x = on(v, device[v])) values[*x] = 1;
  }
  for (const Flow& flow : flows_) {
    const Horizon::Arc& arc = horizon_.arcs()[flow.arc];
    values[flow.column] = device[arc.from] == flow.from && device[arc.to] == flow.to ? 1 : 0;
  }
  for (const Order& order : orders_) {
    const bool before = device[order.a] == device[order.b] && turn[order.a] < turn[order.b];
    values[order.column] = before ? 1 : 0;
  }
}

/// Returns the device with the largest value in the operator's columns.
std::size_t Formulation::device(std::size_t v, const std::vector<double>& values) const {
  std::size_t device = 0;
  double most = -1;
  for (std::size_t d = 0; d < horizon_.devices(); ++d) {
    const auto x = on(v, d);
    if (!x || values[*x] <= most) continue;
    most = values[*x];
    device = d;
  }
  return device;
}

Schedule Formulation::schedule(const std::vector<double>& values) const {
  // Order by the middle of an operator's time: starts may be off by rounding, and an operator
  // without duration goes before one that starts with it. An operator is appended once all its
  // inputs are.
  std::vector<std::size_t> missing(horizon_.operators(), 0), ready, devices;
  std::vector<double> middle;
  for (const Horizon::Arc& arc : horizon_.arcs()) ++missing[arc.to];
  for (std::size_t v = 0; v < missing.size(); ++v) {
    if (missing[v] == 0) ready.push_back(v);
    devices.push_back(device(v, values));
    middle.push_back(values[starts_[v]] + scaled(horizon_.time_ms(v, devices[v])) / 2);
  }
  Schedule made;
  made.devices.resize(horizon_.devices());
  while (!ready.empty()) {
    const auto next =
        std::min_element(ready.begin(), ready.end(), [&](std::size_t a, std::size_t b) {
          return std::tuple(middle[a], a) < std::tuple(middle[b], b);
        });
    const std::size_t v = *next;
    ready.erase(next);
    made.devices[devices[v]].push_back(Stage{{{horizon_.op(v)}}});
    for (const Horizon::Arc& arc : horizon_.arcs()) {
      if (arc.from == v && --missing[arc.to] == 0) ready.push_back(arc.to);
    }
  }
  if (links_) made.transfers = links_->order(*this, devices, values);
  return made;
}

}  // namespace hios::scheduler::milp
