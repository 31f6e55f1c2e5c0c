#include "scheduler/best/state/timing.h"

#include <algorithm>
#include <limits>

// update() visits stages in the order of the sequence, which is topological, so each at most once:
// those that changed, and those that depend on a stage whose end has moved. The visit stops early
// when no end moves any more, or when the latency is sure to exceed the limit.
//
// For the latter, let p be the last position of a changed stage. Nothing after p has changed, so
// tails there are valid; at p itself the tail follows from later tails. The end of a stage at or
// after p plus its tail is the length of a path through the new schedule. Above the limit, it
// proves that the latency is. At low temperatures that decides nearly all moves after a few stages.
//
// Tails are updated only if the latency is within the limit, by the same visit backwards.
//
// In a neighbourhood, everything before it ends as it did, and everything after it stays. So ends
// and tails within it are exact, and so is the longest path through any of its stages.
//
// Where messages matter (CostModel::messages_matter), they only delay, so ends and tails by each
// edge alone are a first test of a move. A move that passes is computed as a whole, and rejected
// when an end by messages plus the tail by edges exceeds the limit.
//
// Cost: the edges of the stages visited; where messages matter those of the whole graph for a move
// that passes the first test. Tests: tests/scheduler/best/state/timing_test.cpp (equal to
// simulate() and to recompute() after thousands of random moves, kept and undone).

namespace hios::scheduler::best {

Timing::Timing(const Arrangement& arrangement)
    : arrangement_(&arrangement),
      end_ms_(arrangement.slots(), 0),
      tail_ms_(arrangement.slots(), 0),
      waiting_(arrangement.slots()) {
  if (arrangement.problem().messages_matter()) messages_.emplace(arrangement.problem());
  recompute();
}

/// Computes the ends in the neighbourhood.
void Timing::recompute_ends() {
  const Neighbourhood neighbourhood = arrangement_->neighbourhood();
  for (std::size_t p = neighbourhood.first; p < neighbourhood.end; ++p) {
    const Slot slot = arrangement_->at(p);
    if (!arrangement_->empty(slot)) end_ms_[slot] = ready_ms(slot) + arrangement_->cost_ms(slot);
  }
}

void Timing::enter_neighbourhood() {
  recompute_ends();
  latency_ms_ = kept_latency_ms_ = arrangement_->confined() ? greatest_through() : greatest_end();
}

void Timing::recompute() {
  recompute_ends();
  for (std::size_t p = arrangement_->slots(); p-- > 0;) {
    const Slot slot = arrangement_->at(p);
    if (!arrangement_->empty(slot)) tail_ms_[slot] = rest_ms(slot);
  }
  latency_ms_ = greatest_end();
  settle(std::numeric_limits<double>::infinity());
  if (messages_) messages_->keep(*arrangement_, tail_ms_);
  kept_latency_ms_ = latency_ms_;
}

/// Updates the latency by messages. Returns false if it is above the limit.
bool Timing::settle(double limit_ms) {
  if (!messages_) return true;
  if (!messages_->update(*arrangement_, tail_ms_, limit_ms)) return false;
  latency_ms_ = messages_->latency_ms();
  return true;
}

double Timing::ready_ms(Slot slot) const {
  const Arrangement& a = *arrangement_;
  const CostModel& costs = a.problem().costs();
  const DeviceId device = a.device(slot);
  double ready = a.before(slot) == kNoSlot ? costs.launch_ms(device) : end_ms_[a.before(slot)];
  for (OpId op : a.operators(slot)) {
    for (const SearchProblem::Link& input : a.problem().inputs(op)) {
      const Slot from = a.slot_of(input.op);
      if (from == slot) continue;
      ready =
          std::max(ready, end_ms_[from] + costs.transfer_ms(input.edge, a.device(from), device));
    }
  }
  return ready;
}

double Timing::rest_ms(Slot slot) const {
  const Arrangement& a = *arrangement_;
  const CostModel& costs = a.problem().costs();
  const DeviceId device = a.device(slot);
  const Slot next = a.after(slot);
  double rest = next == kNoSlot ? 0 : a.cost_ms(next) + tail_ms_[next];
  for (OpId op : a.operators(slot)) {
    for (const SearchProblem::Link& output : a.problem().outputs(op)) {
      const Slot to = a.slot_of(output.op);
      if (to == slot) continue;
      rest = std::max(rest, costs.transfer_ms(output.edge, device, a.device(to)) +
                                (a.cost_ms(to) + tail_ms_[to]));
    }
  }
  return rest;
}

/// Returns the last position of a changed stage, at most the neighbourhood's last: a later stage
/// changes only if its previous stage on the device did.
std::size_t Timing::last_change() const {
  const Arrangement& a = *arrangement_;
  std::size_t last = 0;
  for (Slot slot : a.changed_slots()) {
    if (!a.empty(slot)) last = std::max<std::size_t>(last, a.position(slot));
  }
  return std::min(last, a.neighbourhood().end - 1);
}

void Timing::mark_changes() {
  const Arrangement& a = *arrangement_;
  for (Slot slot : a.changed_slots()) {
    if (!a.empty(slot)) mark(slot);
  }
  for (OpId op : a.moved_operators()) {
    for (const SearchProblem::Link& output : a.problem().outputs(op)) mark(a.slot_of(output.op));
  }
}

void Timing::mark_followers(Slot slot) {
  const Arrangement& a = *arrangement_;
  if (a.after(slot) != kNoSlot) mark(a.after(slot));
  for (OpId op : a.operators(slot)) {
    for (const SearchProblem::Link& output : a.problem().outputs(op)) {
      const Slot to = a.slot_of(output.op);
      if (to != slot) mark(to);
    }
  }
}

void Timing::mark_origins(Slot slot) {
  const Arrangement& a = *arrangement_;
  if (a.before(slot) != kNoSlot) mark(a.before(slot));
  for (OpId op : a.operators(slot)) {
    for (const SearchProblem::Link& input : a.problem().inputs(op)) {
      const Slot from = a.slot_of(input.op);
      if (from != slot) mark(from);
    }
  }
}

bool Timing::update(double limit_ms) {
  const Arrangement& a = *arrangement_;
  const std::size_t last = last_change();
  mark_changes();
  for (auto next = waiting_.take_next(0); next; next = waiting_.take_next(*next + 1)) {
    const std::size_t p = *next;
    const Slot slot = a.at(p);
    const double end = ready_ms(slot) + a.cost_ms(slot);
    const double rest = p > last ? tail_ms_[slot] : p == last ? rest_ms(slot) : 0;
    if (end + rest > limit_ms) {
      waiting_.clear_from(p);
      undo();
      return false;
    }
    if (end == end_ms_[slot]) continue;
    old_ends_.push_back({slot, end_ms_[slot]});
    end_ms_[slot] = end;
    mark_followers(slot);
  }
  if (!a.confined()) latency_ms_ = greatest_end();
  if (a.confined() || latency_ms_ <= limit_ms) follow_tails();
  if (a.confined()) latency_ms_ = greatest_through();
  if (latency_ms_ <= limit_ms && settle(limit_ms)) return true;
  undo();
  return false;
}

void Timing::keep() {
  old_ends_.clear();
  old_tails_.clear();
  if (messages_) messages_->keep(*arrangement_, tail_ms_);
  kept_latency_ms_ = latency_ms_;
}

void Timing::follow_tails() {
  const Arrangement& a = *arrangement_;
  for (Slot slot : a.changed_slots()) {
    if (a.empty(slot)) continue;
    mark(slot);
    mark_origins(slot);
  }
  for (auto next = waiting_.take_last_before(last_change() + 1); next;
       next = waiting_.take_last_before(*next)) {
    const Slot slot = a.at(*next);
    const double rest = rest_ms(slot);
    if (rest == tail_ms_[slot]) continue;
    old_tails_.push_back({slot, tail_ms_[slot]});
    tail_ms_[slot] = rest;
    mark_origins(slot);
  }
}

void Timing::undo() {
  while (!old_ends_.empty()) {
    end_ms_[old_ends_.back().slot] = old_ends_.back().ms;
    old_ends_.pop_back();
  }
  while (!old_tails_.empty()) {
    tail_ms_[old_tails_.back().slot] = old_tails_.back().ms;
    old_tails_.pop_back();
  }
  latency_ms_ = kept_latency_ms_;
}

double Timing::greatest_end() const {
  double greatest = 0;
  for (std::size_t d = 0; d < arrangement_->problem().devices(); ++d) {
    const Slot last = arrangement_->last(DeviceId(d));
    if (last != kNoSlot) greatest = std::max(greatest, end_ms_[last]);
  }
  return greatest;
}

/// Returns the longest path through a stage of the neighbourhood.
double Timing::greatest_through() const {
  const Neighbourhood neighbourhood = arrangement_->neighbourhood();
  double greatest = 0;
  for (std::size_t p = neighbourhood.first; p < neighbourhood.end; ++p) {
    const Slot slot = arrangement_->at(p);
    if (!arrangement_->empty(slot)) greatest = std::max(greatest, through_ms(slot));
  }
  return greatest;
}

}  // namespace hios::scheduler::best
