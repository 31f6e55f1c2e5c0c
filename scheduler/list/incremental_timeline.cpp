#include "scheduler/list/incremental_timeline.h"

#include <algorithm>
#include <utility>

#include "scheduler/list/priorities.h"
#include "scheduler/structures/numbers.h"

// An operator starts at the latest of: the end of the previous one on its device, and each placed
// input's end plus its transfer. Adding an operator adds terms and, since no time is negative and
// rounding is monotone, only raises the others: the next one on its device now follows it, and it
// follows the previous one. So a change is propagated by raising the starts of the next operator on
// the device and of the consumers, in the order of positions (a topological order of both kinds of
// arcs), until no start rises. Operators that do not rise are not visited, and every start is the
// same sum as if all were placed from scratch.
//
// For the same reason the latency of a trial is never below the latency before it, so a trial ends
// early once it reaches its limit. Now and then it also ends by the work that a device has left
// after a raised operator. A trial writes the starts in place and records the old ones, so that
// undoing costs no more than the trial.

namespace hios::scheduler {
namespace {

constexpr double kMargin = 1e-9;  // more than the rounding error of a sum of millions of times

}  // namespace

IncrementalTimeline::IncrementalTimeline(const Graph& graph, const CostModel& costs,
                                         const std::vector<OpId>& order)
    : graph_(graph),
      costs_(costs),
      order_(order),
      position_(positions(order)),
      placed_(graph.size() + 1),
      work_(costs.platform().size()),
      on_(costs.platform().size()),
      raised_(graph.size()) {
  arcs_.reserve(graph.edge_count());
  for (std::size_t i = 0; i < order.size(); ++i) {
    placed_[i].arcs = static_cast<std::uint32_t>(arcs_.size());
    for (EdgeId e : graph.out_edges(order[i])) {
      const std::size_t to = position_[graph.edge(e).to.index()];
      const double ms = costs.transfer_ms(e).value_or(kByPair);
      arcs_.push_back({static_cast<std::uint32_t>(to), e, ms});
    }
  }
  placed_.back().arcs = static_cast<std::uint32_t>(arcs_.size());
}

double IncrementalTimeline::at_least(const std::vector<OpId>& operators, DeviceId device) const {
  const PositionSet& on = on_[device.index()];
  double reached = latency_ms_, added = 0;
  for (std::size_t i = operators.size(); i-- > 0;) {
    const auto position = static_cast<std::uint32_t>(position_[operators[i].index()]);
    added += costs_.operator_ms(operators[i], device);
    double start = start_after_inputs(position, device);
    if (work_[device.index()].none()) {
      reached = std::max(reached, start + added);
      continue;
    }
    if (const auto before = on.last_before(position)) {
      start = std::max(start, placed_[*before].start_ms + placed_[*before].time_ms);
    }
    reached = std::max(reached, start + added + work_[device.index()].from(position));
  }
  return reached;
}

double IncrementalTimeline::try_adding(const std::vector<OpId>& operators, DeviceId device,
                                       double limit) {
  if (latency_ms_ >= limit) return kInfinity;
  end_trial();
  trial_in_place_ = true;
  last_.added.clear();
  last_.device = device;
  last_.latency_ms = latency_ms_;
  for (OpId op : operators) {
    const auto position = static_cast<std::uint32_t>(position_[op.index()]);
    last_.added.push_back(position);
    chain(position, device);
  }
  if (propagate(limit)) return last_.latency_ms;
  raised_.clear();
  undo_trial();
  return kInfinity;
}

/// Ends the trial that is applied to placed_; if it is the best, saves its starts.
void IncrementalTimeline::end_trial() {
  if (last_is_best_) {
    last_.starts.clear();
    for (const Start& old : old_) {
      last_.starts.push_back({old.position, placed_[old.position].start_ms});
    }
  }
  undo_trial();
  if (last_is_best_) std::swap(last_, best_);
  last_is_best_ = false;
}

void IncrementalTimeline::undo_trial() {
  if (!trial_in_place_) return;
  trial_in_place_ = false;
  for (std::size_t i = old_.size(); i-- > 0;) placed_[old_[i].position].start_ms = old_[i].ms;
  old_.clear();
  for (std::size_t i = last_.added.size(); i-- > 0;) unchain(last_.added[i], last_.device);
}

/// Inserts an operator between its neighbours on the device, with a start by the current state.
void IncrementalTimeline::chain(std::uint32_t position, DeviceId device) {
  PositionSet& on = on_[device.index()];
  if (on.none()) on = PositionSet(order_.size());
  Placed& placed = placed_[position];
  const auto before = on.last_before(position);
  const auto after = on.next(position);
  on.insert(position);
  placed.device = static_cast<std::uint32_t>(device.index());
  placed.time_ms = costs_.operator_ms(order_[position], device);
  placed.next = after ? static_cast<std::uint32_t>(*after) : kNone;
  placed.start_ms = start_after_inputs(position, device);
  if (before) {
    Placed& previous = placed_[*before];
    previous.next = position;
    placed.start_ms = std::max(placed.start_ms, previous.start_ms + previous.time_ms);
  }
  raised_.insert(position);
}

void IncrementalTimeline::unchain(std::uint32_t position, DeviceId device) {
  PositionSet& on = on_[device.index()];
  on.erase(position);
  if (const auto before = on.last_before(position)) placed_[*before].next = placed_[position].next;
  placed_[position].device = kNone;
}

double IncrementalTimeline::start_after_inputs(std::uint32_t position, DeviceId device) const {
  double ready = costs_.launch_ms(device);
  for (EdgeId e : graph_.in_edges(order_[position])) {
    const Placed& input = placed_[position_[graph_.edge(e).from.index()]];
    if (input.device == kNone) continue;
    const double transfer = costs_.transfer_ms(e, DeviceId(input.device), device);
    ready = std::max(ready, input.start_ms + input.time_ms + transfer);
  }
  return ready;
}

/// Returns the work of the operator's device after it, without operators on trial.
double IncrementalTimeline::work_after(std::size_t position) const {
  const PrefixSums& work = work_[placed_[position].device];
  return work.none() ? 0 : work.from(position + 1);
}

void IncrementalTimeline::raise(std::uint32_t position, double start_ms) {
  Placed& placed = placed_[position];
  if (start_ms <= placed.start_ms) return;
  old_.push_back({position, placed.start_ms});
  placed.start_ms = start_ms;
  raised_.insert(position);
}

double IncrementalTimeline::transfer_ms(const Arc& arc, std::uint32_t from,
                                        std::uint32_t to) const {
  if (from == to) return 0;
  if (arc.transfer_ms != kByPair) return arc.transfer_ms;
  return costs_.transfer_ms(arc.edge, DeviceId(from), DeviceId(to));
}

/// Returns false once the latency is known to be at least `limit`.
bool IncrementalTimeline::propagate(double limit) {
  constexpr std::size_t kSteps = 64;  // between two checks of the remaining work
  std::size_t steps = 0;
  for (auto at = raised_.next(0); at; at = raised_.next(*at)) {
    raised_.erase(*at);
    const Placed& placed = placed_[*at];
    const double finish = placed.start_ms + placed.time_ms;
    last_.latency_ms = std::max(last_.latency_ms, finish);
    if (finish >= limit) return false;
    if (++steps % kSteps == 0 && finish + work_after(*at) > limit * (1 + kMargin)) return false;
    if (placed.next != kNone) raise(placed.next, finish);
    for (std::uint32_t a = placed.arcs; a < placed_[*at + 1].arcs; ++a) {
      const Arc& arc = arcs_[a];
      const std::uint32_t to = placed_[arc.position].device;
      if (to != kNone) raise(arc.position, finish + transfer_ms(arc, placed.device, to));
    }
  }
  return true;
}

void IncrementalTimeline::remember() { last_is_best_ = true; }

void IncrementalTimeline::keep() {
  if (!last_is_best_) {
    undo_trial();
    std::swap(last_, best_);
    for (std::uint32_t position : last_.added) chain(position, last_.device);
    raised_.clear();
    for (const Start& start : last_.starts) placed_[start.position].start_ms = start.ms;
  }
  trial_in_place_ = last_is_best_ = false;
  old_.clear();
  latency_ms_ = last_.latency_ms;
  PrefixSums& work = work_[last_.device.index()];
  if (work.none()) work = PrefixSums(order_.size());
  for (std::uint32_t position : last_.added) work.add(position, placed_[position].time_ms);
}

Schedule IncrementalTimeline::schedule() const {
  std::vector<std::vector<OpId>> operators(on_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (placed_[i].device != kNone) operators[placed_[i].device].push_back(order_[i]);
  }
  Schedule schedule;
  for (const auto& order : operators) schedule.devices.push_back(one_operator_stages(order));
  return schedule;
}

}  // namespace hios::scheduler
