#include "scheduler/list/earliest_start.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduler/list/priorities.h"

// The arrival of an operator's inputs at a device is known once they are all placed. So each device
// has two queues: operators whose inputs are there when it is free, by priority, and operators
// whose inputs arrive later, by arrival. The next pair is the best of the heads. An operator is in
// the queues of all devices that it may go to. Stale entries, placed since or no longer allowed
// there, are dropped when they reach the head. What a device cannot take now it can never take:
// free memory only shrinks, and a label's device is final. O(V·M·log V + M·E).
//
// The order of the queues leaves out what receiving costs a device; the start of their heads counts
// it. So then the next pair is the best of the heads, and another one could start earlier.
//
// Tests: tests/scheduler/list/earliest_start_test.cpp (compared with trying all pairs),
// tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {

EarliestStart::EarliestStart(const Graph& graph, const CostModel& costs, std::vector<OpId> order,
                             Filter may)
    : graph_(&graph),
      costs_(&costs),
      may_(std::move(may)),
      order_(std::move(order)),
      position_(positions(order_)),
      timeline_(graph, costs),
      placement_(graph, costs),
      waits_(graph.size()),
      queues_(costs.platform().size()) {
  for (std::size_t d = 0; d < queues_.size(); ++d) {
    queues_[d].free_ms = costs.launch_ms(DeviceId(d));
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    waits_[i] = graph.in_edges(OpId(i)).size();
    if (waits_[i] == 0) make_ready(OpId(i));
  }
}

double EarliestStart::arrival_ms(OpId op, DeviceId device) const {
  double arrival = 0;
  for (const EdgeId e : graph_->in_edges(op)) {
    const OpId from = graph_->edge(e).from;
    arrival = std::max(arrival, timeline_.finish_ms(from) +
                                    costs_->transfer_ms(e, *timeline_.device(from), device));
  }
  return arrival;
}

void EarliestStart::make_ready(OpId op) {
  for (std::size_t d = 0; d < queues_.size(); ++d) {
    const DeviceId device(d);
    if (!may_still_go(op, device)) continue;
    const auto position = static_cast<Position>(position_[op.index()]);
    const double arrival = arrival_ms(op, device);
    if (arrival <= queues_[d].free_ms) {
      queues_[d].arrived.push(position);
    } else {
      queues_[d].arriving.push({arrival, position});
    }
  }
}

bool EarliestStart::may_still_go(OpId op, DeviceId device) const {
  return !timeline_.placed(op) && placement_.may_go(op, device) && (!may_ || may_(op, device));
}

void EarliestStart::drop_stale(DeviceQueues& queues, DeviceId device) const {
  auto& [free, arrived, arriving, held_for, held_until] = queues;
  while (!arrived.empty() && !may_still_go(order_[arrived.top()], device)) arrived.pop();
  while (!arriving.empty() && !may_still_go(order_[arriving.top().position], device)) {
    arriving.pop();
  }
  if (held_for && !may_still_go(*held_for, device)) held_for.reset();
}

void EarliestStart::consider(OpId op, DeviceId device, double start_ms) {
  if (costs_->charges_receivers()) {
    start_ms = std::max(start_ms, timeline_.earliest_start_ms(op, device));
  }
  const bool held = queues_[device.index()].held_for == op;
  const double end = start_ms + costs_->operator_ms(op, device);
  const auto key = [](const Best& b) {
    return std::tuple(b.choice.start_ms, !b.held, b.position, b.end_ms);
  };
  const Best offer{{op, device, start_ms}, held, static_cast<Position>(position_[op.index()]), end};
  if (!best_ || key(offer) < key(*best_)) best_ = offer;
}

std::optional<EarliestStart::Choice> EarliestStart::next() {
  best_.reset();
  for (std::size_t d = 0; d < queues_.size(); ++d) {
    const DeviceId device(d);
    DeviceQueues& queues = queues_[d];
    for (; !queues.arriving.empty() && queues.arriving.top().ms <= queues.free_ms;
         queues.arriving.pop()) {
      queues.arrived.push(queues.arriving.top().position);
    }
    drop_stale(queues, device);
    if (!queues.arrived.empty()) consider(order_[queues.arrived.top()], device, queues.free_ms);
    if (!queues.arriving.empty()) {
      const auto [arrival, position] = queues.arriving.top();
      const bool waits = queues.held_for && queues.held_for != order_[position];
      consider(order_[position], device, waits ? std::max(arrival, queues.held_until_ms) : arrival);
    }
    if (!queues.held_for || waits_[queues.held_for->index()] > 0) continue;
    const double arrival = arrival_ms(*queues.held_for, device);
    consider(*queues.held_for, device, std::max(arrival, queues.free_ms));
  }
  if (!best_) return std::nullopt;
  return best_->choice;
}

void EarliestStart::place(const Choice& choice) {
  placement_.place(choice.op, choice.device);
  timeline_.place_at(choice.op, choice.device, choice.start_ms);
  DeviceQueues& queues = queues_[choice.device.index()];
  queues.free_ms = timeline_.finish_ms(choice.op);
  queues.held_for.reset();
  ++placed_;
  for (const EdgeId e : graph_->out_edges(choice.op)) {
    const OpId to = graph_->edge(e).to;
    if (--waits_[to.index()] == 0) make_ready(to);
  }
}

void EarliestStart::hold(DeviceId device, OpId for_op, double until_ms) {
  queues_[device.index()].held_for = for_op;
  queues_[device.index()].held_until_ms = until_ms;
}

std::vector<std::optional<DeviceId>> EarliestStart::devices() const {
  std::vector<std::optional<DeviceId>> devices;
  for (std::size_t i = 0; i < graph_->size(); ++i) devices.push_back(timeline_.device(OpId(i)));
  return devices;
}

}  // namespace hios::scheduler
