#include "scheduler/list/timeline.h"

#include <algorithm>
#include <limits>

#include "scheduler/list/placement.h"

// Without insertion the slots of a device end one after the other, so its last slot ends when it is
// free, and placing is O(in-edges). With insertion the gaps are searched from the one in which the
// operator is ready, and the slot is inserted: O(operators on the device) at worst.
//
// Why there is no cyclic wait: let each operator have the key (start, finish, position in the
// list). The key grows along an edge: the consumer starts no earlier than the producer ends, and
// comes later in the list. Slots of a device are kept in the order of their keys, so it grows along
// a device as well. A cycle of waits would need a key larger than itself.
//
// Where receiving costs time, a slot begins with the copies, and the key's start is when they end.
// Then, too, keys grow along a device: slots do not overlap, and one with copies ends before the
// next begins, or starts before it (AwaitedInputs::first_gap_ms). simulate() starts an operator no
// later: what is in a gap leaves the device before the copies of the next slot begin.

namespace hios::scheduler {

ListTimeline::ListTimeline(const Graph& graph, const CostModel& costs, bool insertion, bool copies)
    : graph_(&graph),
      costs_(&costs),
      insertion_(insertion),
      device_of_(graph.size()),
      start_ms_(graph.size(), 0),
      finish_ms_(graph.size(), 0),
      slots_(costs.platform().size()),
      receipts_(costs, copies) {}

void ListTimeline::clear() {
  std::fill(device_of_.begin(), device_of_.end(), std::nullopt);
  for (auto& slots : slots_) slots.clear();
  receipts_.clear();
  latency_ms_ = 0;
}

double ListTimeline::earliest_start_ms(OpId op, DeviceId device) const {
  return earliest(op, device).start_ms;
}

Receipts::Begin ListTimeline::earliest(OpId op, DeviceId device) const {
  if (receipts_.count()) return earliest_with_copies(op, device);
  double ready = costs_->launch_ms(device);
  for (EdgeId e : graph_->in_edges(op)) {
    const OpId input = graph_->edge(e).from;
    const auto& from = device_of_[input.index()];
    if (!from) continue;
    ready = std::max(ready, finish_ms_[input.index()] + costs_->transfer_ms(e, *from, device));
  }
  const auto& slots = slots_[device.index()];
  const double start =
      insertion_ ? slots.first_gap_ms(ready, costs_->operator_ms(op, device)) : slots.end_ms(ready);
  return {start, start};
}

Receipts::Begin ListTimeline::earliest_with_copies(OpId op, DeviceId device) const {
  list_inputs(op);
  const auto& slots = slots_[device.index()];
  if (insertion_) return receipts_.in_gap(inputs_, device, slots, costs_->operator_ms(op, device));
  return receipts_.after(inputs_, device, slots.end_ms(costs_->launch_ms(device)));
}

void ListTimeline::list_inputs(OpId op) const {
  inputs_.clear();
  for (const EdgeId e : graph_->in_edges(op)) {
    const OpId input = graph_->edge(e).from;
    const auto& from = device_of_[input.index()];
    if (from) inputs_.push_back({e, *from, finish_ms_[input.index()]});
  }
}

void ListTimeline::place_at(OpId op, DeviceId device, double start_ms) {
  // In a gap, the begin of the copies is needed, too.
  const bool copies = insertion_ && receipts_.count();
  put(op, device, copies ? earliest(op, device) : Receipts::Begin{start_ms, start_ms});
}

void ListTimeline::put(OpId op, DeviceId device, Receipts::Begin begin) {
  const double finish = begin.start_ms + costs_->operator_ms(op, device);
  if (receipts_.count()) {
    list_inputs(op);
    receipts_.receive(inputs_, device, begin.wait_ms, finish);
  }
  device_of_[op.index()] = device;
  start_ms_[op.index()] = begin.start_ms;
  finish_ms_[op.index()] = finish;
  latency_ms_ = std::max(latency_ms_, finish);
  auto& slots = slots_[device.index()];
  if (insertion_) {
    slots.insert(begin.wait_ms, finish, op);
  } else {
    slots.append(begin.wait_ms, finish, op);
  }
}

Schedule ListTimeline::schedule() const {
  Schedule schedule;
  for (const auto& slots : slots_) {
    std::vector<OpId> order;
    for (const auto& slot : slots.slots()) order.push_back(slot.work);
    schedule.devices.push_back(one_operator_stages(order));
  }
  return schedule;
}

Schedule list_schedule(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order,
                       const std::vector<std::optional<DeviceId>>& device_of) {
  ListTimeline timeline(graph, costs);
  Placement placement(graph, costs);
  for (OpId op : order) {
    if (const auto& device = device_of[op.index()]) placement.place(op, *device);
  }
  for (OpId op : order) {
    std::optional<DeviceId> best = device_of[op.index()];
    double best_finish = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < costs.platform().size() && !device_of[op.index()]; ++d) {
      const DeviceId device(d);
      if (!placement.may_go(op, device)) continue;
      const double finish = timeline.earliest_start_ms(op, device) + costs.operator_ms(op, device);
      if (!best || finish < best_finish) {
        best = device;
        best_finish = finish;
      }
    }
    if (!best) {
      return list_schedule(graph, costs, order, pack_operators(graph, costs, "list scheduling"));
    }
    if (!device_of[op.index()]) placement.place(op, *best);
    timeline.place(op, *best);
  }
  return timeline.schedule();
}

}  // namespace hios::scheduler
