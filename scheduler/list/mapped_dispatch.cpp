#include "scheduler/list/mapped_dispatch.h"

#include <algorithm>
#include <functional>

#include "scheduler/structures/numbers.h"

// The device that can start an operator first does so, so starts never fall, and all operators that
// could start earlier are known. The order of starts is a topological one, and each device keeps
// it, so no deadlock can arise.
//
// Tests: tests/scheduler/algorithms/list/strips_test.cpp (latencies equal simulate()'s).

namespace hios::scheduler {

MappedDispatch::MappedDispatch(const Graph& graph, const CostModel& costs)
    : graph_(&graph),
      costs_(&costs),
      path_ms_(graph.size()),
      finish_ms_(graph.size()),
      position_(graph.size()),
      waits_(graph.size()),
      queues_(costs.platform().size()),
      start_ms_(costs.platform().size()),
      placed_(costs.platform().size()) {}

/// Sorts operators by the longest paths from them.
void MappedDispatch::rank(const Mapping& mapping) {
  const auto topological = graph_->topological();
  for (std::size_t i = topological.size(); i-- > 0;) {
    const OpId op = topological[i];
    const DeviceId device = mapping[op.index()];
    double rest = 0;
    for (const EdgeId e : graph_->out_edges(op)) {
      const std::size_t to = graph_->edge(e).to.index();
      rest = std::max(rest, costs_->transfer_ms(e, device, mapping[to]) + path_ms_[to]);
    }
    path_ms_[op.index()] = costs_->operator_ms(op, device) + rest;
  }
  order_.assign(topological.begin(), topological.end());
  std::stable_sort(order_.begin(), order_.end(),
                   [&](OpId a, OpId b) { return path_ms_[a.index()] > path_ms_[b.index()]; });
  for (std::size_t i = 0; i < order_.size(); ++i) {
    position_[order_[i].index()] = static_cast<Position>(i);
  }
}

void MappedDispatch::make_ready(OpId op, const Mapping& mapping) {
  const DeviceId device = mapping[op.index()];
  double ready = costs_->launch_ms(device);
  for (const EdgeId e : graph_->in_edges(op)) {
    const std::size_t from = graph_->edge(e).from.index();
    ready = std::max(ready, finish_ms_[from] + costs_->transfer_ms(e, mapping[from], device));
  }
  Queues& queues = queues_[device.index()];
  queues.arriving.push_back({ready, position_[op.index()]});
  std::push_heap(queues.arriving.begin(), queues.arriving.end(), std::greater<>());
  update_start(device.index());
}

/// Moves what has arrived when the device is free.
void MappedDispatch::admit(Queues& queues) {
  auto& arriving = queues.arriving;
  while (!arriving.empty() && arriving.front().ms <= queues.free_ms) {
    queues.arrived.push_back(arriving.front().position);
    std::push_heap(queues.arrived.begin(), queues.arrived.end(), std::greater<>());
    std::pop_heap(arriving.begin(), arriving.end(), std::greater<>());
    arriving.pop_back();
  }
}

void MappedDispatch::update_start(std::size_t device) {
  Queues& queues = queues_[device];
  admit(queues);
  if (!queues.arrived.empty()) {
    start_ms_[device] = queues.free_ms;
  } else {
    start_ms_[device] = queues.arriving.empty() ? kInfinity : queues.arriving.front().ms;
  }
}

double MappedDispatch::latency_ms(const Mapping& mapping) {
  rank(mapping);
  for (std::size_t d = 0; d < queues_.size(); ++d) {
    queues_[d].free_ms = costs_->launch_ms(DeviceId(d));
    start_ms_[d] = kInfinity;
    placed_[d].clear();
  }
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    waits_[i] = static_cast<std::uint32_t>(graph_->in_edges(OpId(i)).size());
    if (waits_[i] == 0) make_ready(OpId(i), mapping);
  }
  double latency = 0;
  for (std::size_t count = 0; count < waits_.size(); ++count) {
    const auto next = std::min_element(start_ms_.begin(), start_ms_.end());
    const auto device = static_cast<std::size_t>(next - start_ms_.begin());
    Queues& queues = queues_[device];
    queues.free_ms = *next;
    admit(queues);
    std::pop_heap(queues.arrived.begin(), queues.arrived.end(), std::greater<>());
    const OpId op = order_[queues.arrived.back()];
    queues.arrived.pop_back();
    placed_[device].push_back(op);
    queues.free_ms += costs_->operator_ms(op, DeviceId(device));
    finish_ms_[op.index()] = queues.free_ms;
    latency = std::max(latency, queues.free_ms);
    update_start(device);
    for (const EdgeId e : graph_->out_edges(op)) {
      const OpId to = graph_->edge(e).to;
      if (--waits_[to.index()] == 0) make_ready(to, mapping);
    }
  }
  return latency;
}

Schedule MappedDispatch::schedule() const {
  Schedule schedule;
  for (const auto& list : placed_) schedule.devices.push_back(one_operator_stages(list));
  return schedule;
}

}  // namespace hios::scheduler
