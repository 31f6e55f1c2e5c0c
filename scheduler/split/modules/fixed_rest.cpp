#include "scheduler/split/modules/fixed_rest.h"

#include <algorithm>
#include <queue>
#include <tuple>

// A part is some operators that follow each other in an order in which nothing comes before what it
// waits for. So what is before the part does not wait for it, and its times stay what they are; and
// what is behind never lets the part wait, and from the end of one of the part's operators passes
// the longest way through what is behind. Both are numbers for every operator of the part and every
// device that it could be on: the part is a problem of its own, with heads and tails.

namespace hios::scheduler::split {

FixedRest::FixedRest(const CostModel& costs, const Schedule& schedule, bool by_start)
    : costs_(costs),
      devices_(costs.platform().size()),
      work_(devices_),
      place_(costs.graph().size()),
      device_(costs.graph().size()),
      start_(costs.graph().size(), 0),
      tail_(costs.graph().size(), 0) {
  for (std::size_t d = 0; d < devices_; ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      work_[d].push_back(stage.groups.front().front());
      device_[work_[d].back().index()] = d;
    }
  }
  find_order(false);
  find_times();
  if (by_start) find_order(true);
}

double FixedRest::time_ms(OpId op) const { return costs_.operator_ms(op, DeviceId(device(op))); }

void FixedRest::find_order(bool by_start) {
  const Graph& graph = costs_.graph();
  std::vector<std::size_t> waits(graph.size(), 0), rank(graph.size());
  std::vector<std::size_t> turn(graph.size(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) rank[graph.topological()[i].index()] = i;
  for (const auto& work : work_) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      turn[work[i].index()] = i;
      waits[work[i].index()] = graph.in_edges(work[i]).size() + (i > 0 ? 1 : 0);
    }
  }
  using Key = std::tuple<double, std::size_t, std::size_t>;
  std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
  const auto add = [&](OpId op) {
    ready.emplace(by_start ? start_ms(op) : 0, rank[op.index()], op.index());
  };
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (waits[v] == 0) add(OpId(v));
  }
  order_.clear();
  while (!ready.empty()) {
    const OpId op(std::get<2>(ready.top()));
    ready.pop();
    place_[op.index()] = order_.size();
    order_.push_back(op);
    const auto& work = work_[device(op)];
    const std::size_t next = turn[op.index()] + 1;
    if (next < work.size() && --waits[work[next].index()] == 0) add(work[next]);
    for (EdgeId e : graph.out_edges(op)) {
      const OpId to = graph.edge(e).to;
      if (--waits[to.index()] == 0) add(to);
    }
  }
}

/// Since when devices are free.
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

/// When all that it reads of those before `begin` could be there.
double FixedRest::arrival_ms(OpId op, std::size_t device, std::size_t begin) const {
  double latest = costs_.launch_ms(DeviceId(device));
  for (EdgeId e : costs_.graph().in_edges(op)) {
    const OpId from = costs_.graph().edge(e).from;
    if (place_[from.index()] >= begin) continue;
    latest =
        std::max(latest, start_ms(from) + time_ms(from) +
                             costs_.transfer_ms(e, DeviceId(this->device(from)), DeviceId(device)));
  }
  return latest;
}

double FixedRest::head_ms(OpId op, std::size_t device, std::size_t begin) const {
  double head = arrival_ms(op, device, begin);
  for (auto at = work_[device].rbegin(); at != work_[device].rend(); ++at) {
    if (place_[at->index()] >= begin) continue;
    return std::max(head, start_ms(*at) + time_ms(*at));
  }
  return head;
}

double FixedRest::tail_ms(OpId op, std::size_t device, std::size_t end) const {
  double tail = 0;
  for (OpId next : work_[device]) {
    if (place_[next.index()] < end) continue;
    tail = time_ms(next) + tail_[next.index()];
    break;
  }
  for (EdgeId e : costs_.graph().out_edges(op)) {
    const OpId to = costs_.graph().edge(e).to;
    if (place_[to.index()] < end) continue;
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
      const std::size_t at = place_[from.index()];
      if (at >= begin && at < end) continue;
      start = std::max(start, ends[from.index()] + costs_.transfer_ms(e, DeviceId(device(from)),
                                                                      DeviceId(device(op))));
    }
    ends[op.index()] = free[device(op)] = start + time_ms(op);
    latest = std::max(latest, ends[op.index()]);
  }
  return latest;
}

Schedule FixedRest::with(std::size_t begin, std::size_t end, const Schedule& part) const {
  Schedule made;
  made.devices.resize(devices_);
  for (std::size_t d = 0; d < devices_; ++d) {
    std::vector<Stage>& stages = made.devices[d];
    const auto add = [&](OpId op) { stages.push_back(Stage{{{op}}}); };
    for (OpId op : work_[d]) {
      if (place_[op.index()] < begin) add(op);
    }
    stages.insert(stages.end(), part.devices[d].begin(), part.devices[d].end());
    for (OpId op : work_[d]) {
      if (place_[op.index()] >= end) add(op);
    }
  }
  return made;
}

}  // namespace hios::scheduler::split
