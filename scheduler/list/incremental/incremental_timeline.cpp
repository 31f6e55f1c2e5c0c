#include "scheduler/list/incremental/incremental_timeline.h"

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
//
// Where receivers copy, an operator pays for a tensor if no earlier one on its device reads it. So
// an added operator may take a copy over from a later one, which then starts earlier, and the
// latency may fall. Positions that may change are then visited in order, and each start is computed
// from its inputs: all that it depends on comes before it. So a visited start is final, and a trial
// still ends once one reaches the limit. Who paid follows from the consumers of each input, so a
// visit costs their number. Where an output has many consumers and the same message for all, the
// first of them on a device pays: they are kept in a set, and only the one that was the first until
// then is visited.

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
      raised_(graph.size()),
      copies_(costs.charges_receivers()),
      awaited_(costs, DeviceId(0)) {
  arcs_.reserve(graph.edge_count());
  for (std::size_t i = 0; i < order.size(); ++i) {
    placed_[i].arcs = static_cast<std::uint32_t>(arcs_.size());
    for (EdgeId e : graph.out_edges(order[i])) {
      const std::size_t to = position_[graph.edge(e).to.index()];
      const double ms = costs.transfer_ms(e).value_or(kByPair);
      arcs_.push_back({static_cast<std::uint32_t>(to), e, ms});
    }
    if (!copies_) continue;  // else received_before() adds them up in order
    std::stable_sort(arcs_.begin() + placed_[i].arcs, arcs_.end(),
                     [](const Arc& a, const Arc& b) { return a.position < b.position; });
    shared_.push_back(kNone);
    if (!is_shared_widely(costs, order[i])) continue;
    shared_.back() = static_cast<std::uint32_t>(receivers_.size());
    receivers_.emplace_back(on_.size());
  }
  placed_.back().arcs = static_cast<std::uint32_t>(arcs_.size());
}

double IncrementalTimeline::at_least(const std::vector<OpId>& operators, DeviceId device) const {
  if (copies_) return 0;
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
  if (latency_ms_ >= limit && !copies_) return kInfinity;
  end_trial();
  trial_in_place_ = true;
  last_.added.clear();
  last_.device = device;
  last_.latency_ms = latency_ms_;
  for (OpId op : operators) {
    const auto position = static_cast<std::uint32_t>(position_[op.index()]);
    last_.added.push_back(position);
    add_to(position, device);
  }
  if (copies_ ? propagate_copies(limit) : propagate(limit)) return last_.latency_ms;
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

/// Adds an operator on trial, to be visited.
void IncrementalTimeline::add_to(std::uint32_t position, DeviceId device) {
  chain(position, device);
  raised_.insert(position);
  Placed& placed = placed_[position];
  if (copies_) {
    placed.start_ms = kInfinity;  // unlike any start
    visit_later_receivers(position);
    return;
  }
  placed.start_ms = start_after_inputs(position, device);
  if (const auto before = on_[device.index()].last_before(position)) {
    const Placed& previous = placed_[*before];
    placed.start_ms = std::max(placed.start_ms, previous.start_ms + previous.time_ms);
  }
}

/// Inserts an operator between its neighbours on the device, without a start.
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
  if (before) placed_[*before].next = position;
  if (copies_) set_receiver(position, device, true);
}

void IncrementalTimeline::unchain(std::uint32_t position, DeviceId device) {
  PositionSet& on = on_[device.index()];
  on.erase(position);
  if (const auto before = on.last_before(position)) placed_[*before].next = placed_[position].next;
  placed_[position].device = kNone;
  if (copies_) set_receiver(position, device, false);
}

/// Returns the first arc from the producer to the operator, as an index of the producer's arcs.
std::uint32_t IncrementalTimeline::arc_to(std::uint32_t producer, std::uint32_t position) const {
  const auto begin = arcs_.begin() + placed_[producer].arcs;
  const auto arc = std::lower_bound(begin, arcs_.begin() + placed_[producer + 1].arcs, position,
                                    [](const Arc& a, std::uint32_t to) { return a.position < to; });
  return static_cast<std::uint32_t>(arc - begin);
}

/// Enters the operator in the sets of those that receive its inputs, or removes it.
void IncrementalTimeline::set_receiver(std::uint32_t position, DeviceId device, bool receives) {
  for (const EdgeId e : graph_.in_edges(order_[position])) {
    const auto producer = static_cast<std::uint32_t>(position_[graph_.edge(e).from.index()]);
    if (shared_[producer] == kNone) continue;
    PositionSet& here = receivers_[shared_[producer]][device.index()];
    if (here.none()) here = PositionSet(placed_[producer + 1].arcs - placed_[producer].arcs);
    if (receives) {
      here.insert(arc_to(producer, position));
    } else {
      here.erase(arc_to(producer, position));
    }
  }
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

/// Marks the operators after this one, on its device, that read the same tensors from others: they
/// need not copy them now.
void IncrementalTimeline::visit_later_receivers(std::uint32_t position) {
  const std::uint32_t device = placed_[position].device;
  for (const EdgeId e : graph_.in_edges(order_[position])) {
    const std::size_t producer = position_[graph_.edge(e).from.index()];
    if (placed_[producer].device == kNone || placed_[producer].device == device) continue;
    if (shared_[producer] != kNone) {
      const PositionSet& here = receivers_[shared_[producer]][device];
      const std::size_t arc = arc_to(static_cast<std::uint32_t>(producer), position);
      const auto next = here.next(arc + 1);
      if (here.next(0) == arc && next)
        raised_.insert(arcs_[placed_[producer].arcs + *next].position);
      continue;
    }
    for (std::uint32_t a = placed_[producer].arcs; a < placed_[producer + 1].arcs; ++a) {
      const std::uint32_t other = arcs_[a].position;
      if (other > position && placed_[other].device == device) raised_.insert(other);
    }
  }
}

/// Returns what the operator's device has of the tensor by the operators before it.
Receipt IncrementalTimeline::received_before(std::uint32_t position, std::uint32_t producer) const {
  const std::uint32_t from = placed_[producer].device, device = placed_[position].device;
  Receipt had;
  if (shared_[producer] != kNone) {
    const PositionSet& here = receivers_[shared_[producer]][device];
    const Arc& first = arcs_[placed_[producer].arcs + *here.next(0)];
    if (first.position == position) return had;
    return deliver(costs_, first.edge, DeviceId(from), DeviceId(device), had).receipt;
  }
  for (std::uint32_t a = placed_[producer].arcs; a < placed_[producer + 1].arcs; ++a) {
    const Arc& arc = arcs_[a];
    if (arc.position >= position || placed_[arc.position].device != device) continue;
    had = deliver(costs_, arc.edge, DeviceId(from), DeviceId(device), had).receipt;
  }
  return had;
}

/// Returns the start by all starts before it.
double IncrementalTimeline::start_with_copies(std::uint32_t position) {
  const DeviceId device(placed_[position].device);
  awaited_.begin(device);
  for (const EdgeId e : graph_.in_edges(order_[position])) {
    const auto producer = static_cast<std::uint32_t>(position_[graph_.edge(e).from.index()]);
    const Placed& input = placed_[producer];
    if (input.device == kNone || DeviceId(input.device) == device) continue;
    awaited_.add(e, DeviceId(input.device), input.start_ms + input.time_ms,
                 received_before(position, producer));
  }
  awaited_.end();
  const auto before = on_[device.index()].last_before(position);
  return awaited_.start_ms(before ? placed_[*before].start_ms + placed_[*before].time_ms
                                  : costs_.launch_ms(device));
}

/// propagate() where receivers copy: visits what may have changed, earlier or later.
bool IncrementalTimeline::propagate_copies(double limit) {
  constexpr std::size_t kSteps = 64;
  std::size_t steps = 0;
  for (auto at = raised_.next(0); at; at = raised_.next(*at)) {
    raised_.erase(*at);
    const auto position = static_cast<std::uint32_t>(*at);
    Placed& placed = placed_[position];
    const double start = start_with_copies(position), finish = start + placed.time_ms;
    if (finish >= limit) return false;
    if (++steps % kSteps == 0 && finish + work_after(position) > limit * (1 + kMargin)) {
      return false;
    }
    if (start == placed.start_ms) continue;
    old_.push_back({position, placed.start_ms});
    placed.start_ms = start;
    if (placed.next != kNone) raised_.insert(placed.next);
    for (std::uint32_t a = placed.arcs; a < placed_[position + 1].arcs; ++a) {
      if (placed_[arcs_[a].position].device != kNone) raised_.insert(arcs_[a].position);
    }
  }
  last_.latency_ms = last_finish();
  return last_.latency_ms < limit;
}

/// Returns the latency. Ends do not fall along a device.
double IncrementalTimeline::last_finish() const {
  double latest = 0;
  for (const PositionSet& on : on_) {
    const auto last = on.none() ? std::nullopt : on.last_before(order_.size());
    if (last) latest = std::max(latest, placed_[*last].start_ms + placed_[*last].time_ms);
  }
  return latest;
}

void IncrementalTimeline::remember() { last_is_best_ = true; }

void IncrementalTimeline::keep() {
  if (!last_is_best_) {
    undo_trial();
    std::swap(last_, best_);
    for (std::uint32_t position : last_.added) add_to(position, last_.device);
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
