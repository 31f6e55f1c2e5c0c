#include "scheduler/split/modules/fixed_rest.h"

#include <algorithm>
#include <queue>
#include <tuple>

// A neighbourhood is a range of operators in an order in which producers come first. Operators
// before it do not depend on it, so their times stay. Operators after it never delay it: after the
// end of one of its operators follows the longest path through them. Heads and tails express both,
// for each operator of the neighbourhood on each device, so it is a problem of its own.

namespace hios::scheduler::split {

FixedRest::FixedRest(const CostModel& costs, const Schedule& schedule, bool by_start)
    : costs_(costs),
      devices_(costs.platform().size()),
      by_device_(devices_),
      position_(costs.graph().size()),
      device_(costs.graph().size()),
      start_(costs.graph().size(), 0),
      tail_(costs.graph().size(), 0) {
  for (std::size_t d = 0; d < devices_; ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      by_device_[d].push_back(stage.groups.front().front());
      device_[by_device_[d].back().index()] = d;
    }
  }
  find_order(false);
  find_times();
  if (by_start) find_order(true);
}

double FixedRest::time_ms(OpId op) const { return costs_.operator_ms(op, DeviceId(device(op))); }

void FixedRest::find_order(bool by_start) {
  const Graph& graph = costs_.graph();
  std::vector<std::size_t> unmet(graph.size(), 0), rank(graph.size());
  std::vector<std::size_t> turn(graph.size(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) rank[graph.topological()[i].index()] = i;
  for (const auto& sequence : by_device_) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      turn[sequence[i].index()] = i;
      unmet[sequence[i].index()] = graph.in_edges(sequence[i]).size() + (i > 0 ? 1 : 0);
    }
  }
  using Key = std::tuple<double, std::size_t, std::size_t>;
  std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
  const auto add = [&](OpId op) {
    ready.emplace(by_start ? start_ms(op) : 0, rank[op.index()], op.index());
  };
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (unmet[v] == 0) add(OpId(v));
  }
  order_.clear();
  while (!ready.empty()) {
    const OpId op(std::get<2>(ready.top()));
    ready.pop();
    position_[op.index()] = order_.size();
    order_.push_back(op);
    const auto& sequence = by_device_[device(op)];
    const std::size_t next = turn[op.index()] + 1;
    if (next < sequence.size() && --unmet[sequence[next].index()] == 0) add(sequence[next]);
    for (EdgeId e : graph.out_edges(op)) {
      const OpId to = graph.edge(e).to;
      if (--unmet[to.index()] == 0) add(to);
    }
  }
}

/// Returns the times from which devices are free.
std::vector<double> FixedRest::launches_ms() const {
  std::vector<double> launches;
  for (std::size_t d = 0; d < devices_; ++d) launches.push_back(costs_.launch_ms(DeviceId(d)));
  return launches;
}

void FixedRest::find_times() {
  const Graph& graph = costs_.graph();
  std::vector<double> free = launches_ms(), next(devices_, 0);
  for (OpId op : order_) {
    start_[op.index()] = std::max(free[device(op)], arrival_ms(op, device(op), order_.size()));
    free[device(op)] = start_ms(op) + time_ms(op);
    latency_ms_ = std::max(latency_ms_, free[device(op)]);
  }
  for (std::size_t i = order_.size(); i-- > 0;) {
    const OpId op = order_[i];
    double& tail = tail_[op.index()];
    tail = next[device(op)];
    for (EdgeId e : graph.out_edges(op)) {
      const OpId to = graph.edge(e).to;
      tail = std::max(tail, costs_.transfer_ms(e, DeviceId(device(op)), DeviceId(device(to))) +
                                time_ms(to) + tail_[to.index()]);
    }
    next[device(op)] = time_ms(op) + tail;
  }
}

/// Returns the arrival of the operator's inputs from producers before `begin`.
double FixedRest::arrival_ms(OpId op, std::size_t device, std::size_t begin) const {
  double latest = costs_.launch_ms(DeviceId(device));
  for (EdgeId e : costs_.graph().in_edges(op)) {
    const OpId from = costs_.graph().edge(e).from;
    if (position_[from.index()] >= begin) continue;
    latest =
        std::max(latest, start_ms(from) + time_ms(from) +
                             costs_.transfer_ms(e, DeviceId(this->device(from)), DeviceId(device)));
  }
  return latest;
}

double FixedRest::head_ms(OpId op, std::size_t device, std::size_t begin) const {
  double head = arrival_ms(op, device, begin);
  for (auto at = by_device_[device].rbegin(); at != by_device_[device].rend(); ++at) {
    if (position_[at->index()] >= begin) continue;
    return std::max(head, start_ms(*at) + time_ms(*at));
  }
  return head;
}

double FixedRest::tail_ms(OpId op, std::size_t device, std::size_t end) const {
  double tail = 0;
  for (OpId next : by_device_[device]) {
    if (position_[next.index()] < end) continue;
    tail = time_ms(next) + tail_[next.index()];
    break;
  }
  for (EdgeId e : costs_.graph().out_edges(op)) {
    const OpId to = costs_.graph().edge(e).to;
    if (position_[to.index()] < end) continue;
    tail = std::max(tail, costs_.transfer_ms(e, DeviceId(device), DeviceId(this->device(to))) +
                              time_ms(to) + tail_[to.index()]);
  }
  return tail;
}

double FixedRest::without_ms(std::size_t begin, std::size_t end) const {
  std::vector<double> free = launches_ms(), ends(costs_.graph().size(), 0);
  double latest = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (i >= begin && i < end) continue;
    const OpId op = order_[i];
    double start = free[device(op)];
    for (EdgeId e : costs_.graph().in_edges(op)) {
      const OpId from = costs_.graph().edge(e).from;
      const std::size_t at = position_[from.index()];
      if (at >= begin && at < end) continue;
      start = std::max(start, ends[from.index()] + costs_.transfer_ms(e, DeviceId(device(from)),
                                                                      DeviceId(device(op))));
    }
    ends[op.index()] = free[device(op)] = start + time_ms(op);
    latest = std::max(latest, ends[op.index()]);
  }
  return latest;
}

Schedule FixedRest::replaced(std::size_t begin, std::size_t end,
                             const Schedule& neighbourhood) const {
  Schedule schedule;
  schedule.devices.resize(devices_);
  for (std::size_t d = 0; d < devices_; ++d) {
    std::vector<Stage>& stages = schedule.devices[d];
    const auto add = [&](OpId op) { stages.push_back(Stage{{{op}}}); };
    for (OpId op : by_device_[d]) {
      if (position_[op.index()] < begin) add(op);
    }
    stages.insert(stages.end(), neighbourhood.devices[d].begin(), neighbourhood.devices[d].end());
    for (OpId op : by_device_[d]) {
      if (position_[op.index()] >= end) add(op);
    }
  }
  return schedule;
}

}  // namespace hios::scheduler::split
