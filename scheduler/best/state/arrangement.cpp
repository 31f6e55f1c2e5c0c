#include "scheduler/best/state/arrangement.h"

#include <algorithm>
#include <queue>
#include <tuple>

// Six elementary changes make up all others, and each has an inverse: an operator leaves or enters
// a stage, a stage leaves or enters its device's list, a slot takes another position of the
// sequence, a stage gets another cost. undo() applies the inverses in reverse order, so an undone
// arrangement is equal bit for bit.
//
// Ranges follow from direct edges alone. That suffices: let operator v be at position p with all
// producers at p or before and all consumers at p or after. A path from v to another operator of
// its stage through operators outside would reach a position after p. It could not come back, since
// no edge leads backwards.
//
// Empty slots keep their positions among the others. An operator that leaves a stage of several
// always finds one: n slots then hold at most n − 1 stages.
//
// Tests: tests/scheduler/best/state/timing_test.cpp (valid after any moves, undone bit for bit).

namespace hios::scheduler::best {

Arrangement::Arrangement(const SearchProblem& problem, StageCosts& stage_costs,
                         const Schedule& schedule)
    : problem_(&problem),
      stage_costs_(&stage_costs),
      slot_of_(problem.operators(), kNoSlot),
      operators_(problem.operators()),
      device_(problem.operators()),
      cost_ms_(problem.operators(), 0),
      before_(problem.operators(), kNoSlot),
      after_(problem.operators(), kNoSlot),
      first_(problem.devices(), kNoSlot),
      last_(problem.devices(), kNoSlot),
      position_(problem.operators(), 0),
      held_bytes_(problem.devices(), 0) {
  fill_from(schedule);
}

Arrangement::Arrangement(const Arrangement& other, StageCosts& stage_costs) : Arrangement(other) {
  stage_costs_ = &stage_costs;
}

void Arrangement::fill_from(const Schedule& schedule) {
  Slot next = 0;
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      for (const Group& group : stage.groups) {
        for (OpId op : group) {
          operators_[next].push_back(op);
          slot_of_[op.index()] = next;
          hold(DeviceId(d), problem_->held_bytes(op));
        }
      }
      link_after(next, last_[d], DeviceId(d));
      cost_ms_[next] = stage_costs_->cost_ms(operators_[next], DeviceId(d));
      work_ms_ += cost_ms_[next];
      ++next;
    }
  }
  // Kahn's algorithm over the stages; each brings as many slots as it has operators.
  std::vector<std::size_t> waits(next, 0);
  const auto for_each_follower = [&](Slot slot, auto visit) {
    for (OpId op : operators_[slot]) {
      for (const SearchProblem::Link& output : problem_->outputs(op)) {
        if (slot_of(output.op) != slot) visit(slot_of(output.op));
      }
    }
    if (after_[slot] != kNoSlot) visit(after_[slot]);
  };
  for (Slot s = 0; s < next; ++s) {
    for_each_follower(s, [&](Slot follower) { ++waits[follower]; });
  }
  std::queue<Slot> ready;
  for (Slot s = 0; s < next; ++s) {
    if (waits[s] == 0) ready.push(s);
  }
  for (Slot unused = next; !ready.empty(); ready.pop()) {
    const Slot slot = ready.front();
    sequence_.push_back(slot);
    for (std::size_t i = 1; i < operators_[slot].size(); ++i) sequence_.push_back(unused++);
    for_each_follower(slot, [&](Slot follower) {
      if (--waits[follower] == 0) ready.push(follower);
    });
  }
  for (std::uint32_t p = 0; p < sequence_.size(); ++p) position_[sequence_[p]] = p;
  confine({0, sequence_.size()});
  keep();
}

PositionRange Arrangement::range(OpId op) const {
  PositionRange range = whole_neighbourhood();
  for (const SearchProblem::Link& input : problem_->inputs(op)) {
    range.first = std::max<std::int64_t>(range.first, position_[slot_of(input.op)]);
  }
  for (const SearchProblem::Link& output : problem_->outputs(op)) {
    range.last = std::min<std::int64_t>(range.last, position_[slot_of(output.op)]);
  }
  return range;
}

PositionRange Arrangement::range_of_stage(Slot slot) const {
  PositionRange range = whole_neighbourhood();
  for (OpId op : operators_[slot]) {
    for (const SearchProblem::Link& input : problem_->inputs(op)) {
      const Slot from = slot_of(input.op);
      if (from != slot) range.first = std::max<std::int64_t>(range.first, position_[from]);
    }
    for (const SearchProblem::Link& output : problem_->outputs(op)) {
      const Slot to = slot_of(output.op);
      if (to != slot) range.last = std::min<std::int64_t>(range.last, position_[to]);
    }
  }
  return range;
}

Bytes Arrangement::excess_bytes(DeviceId device) const {
  const Bytes held = held_bytes_[device.index()], limit = problem_->memory_limit(device);
  return held > limit ? held - limit : 0;
}

void Arrangement::hold(DeviceId device, Bytes bytes) {
  const Bytes before = excess_bytes(device);
  held_bytes_[device.index()] += bytes;
  const Bytes excess = excess_bytes(device);
  excess_bytes_ += excess - before;
  overfull_devices_ += before == 0 && excess > 0;
}

void Arrangement::release(DeviceId device, Bytes bytes) {
  const Bytes before = excess_bytes(device);
  held_bytes_[device.index()] -= bytes;
  const Bytes excess = excess_bytes(device);
  excess_bytes_ -= before - excess;
  overfull_devices_ -= before > 0 && excess == 0;
}

void Arrangement::join(OpId op, Slot slot) {
  const Slot old = slot_of(op);
  if (old == slot) return;
  take_out(old);
  detach(op);
  attach(op, slot);
  changed_slots_.push_back(slot);
  update_cost(slot);
  if (empty(old)) {
    set_cost(old, 0);
  } else {
    update_cost(old);
  }
}

void Arrangement::isolate(OpId op, DeviceId device, std::int64_t gap) {
  const Slot old = slot_of(op);
  if (operators_[old].size() == 1) {
    shift(old, device, gap);
    return;
  }
  const Slot slot = empty_slot_near(gap);
  detach(op);
  attach(op, slot);
  move_after(slot, gap);
  link(slot, device);
  set_cost(slot, problem_->costs().operator_ms(op, device));
  update_cost(old);
  changed_slots_.push_back(old);
}

void Arrangement::shift(Slot slot, DeviceId device, std::int64_t gap) {
  const bool elsewhere = device != device_[slot];
  unlink(slot);
  move_after(slot, gap);
  link(slot, device);
  if (!elsewhere) return;
  update_cost(slot);
  for (OpId op : operators_[slot]) moved_.push_back(op);
}

/// Removes the stage from its device if its last operator is about to leave.
void Arrangement::take_out(Slot slot) {
  changed_slots_.push_back(slot);
  if (operators_[slot].size() == 1) unlink(slot);
}

void Arrangement::detach(OpId op) {
  const Slot slot = slot_of(op);
  auto& members = operators_[slot];
  const auto member = std::find(members.begin(), members.end(), op);
  Note note{Change::kDetach, slot, op, 0, kNoSlot, {}, 0};
  note.index = static_cast<std::uint32_t>(member - members.begin());
  notes_.push_back(note);
  *member = members.back();
  members.pop_back();
  release(device_[slot], problem_->held_bytes(op));
}

/// Adds the operator; link() then sets the device of a slot that was empty.
void Arrangement::attach(OpId op, Slot slot) {
  notes_.push_back({Change::kAttach, slot, op, 0, kNoSlot, {}, 0});
  operators_[slot].push_back(op);
  slot_of_[op.index()] = slot;
  hold(device_[slot], problem_->held_bytes(op));
  moved_.push_back(op);
}

void Arrangement::link(Slot slot, DeviceId device) {
  Slot neighbour = kNoSlot;
  for (std::uint32_t p = position_[slot]; p-- > 0;) {
    const Slot other = sequence_[p];
    if (!empty(other) && device_[other] == device) {
      neighbour = other;
      break;
    }
  }
  notes_.push_back({Change::kLink, slot, {}, 0, kNoSlot, device_[slot], 0});
  for (OpId op : operators_[slot]) {
    release(device_[slot], problem_->held_bytes(op));
    hold(device, problem_->held_bytes(op));
  }
  link_after(slot, neighbour, device);
  changed_slots_.push_back(slot);
  if (after_[slot] != kNoSlot) changed_slots_.push_back(after_[slot]);
}

void Arrangement::link_after(Slot slot, Slot neighbour, DeviceId device) {
  Slot& first = first_[device.index()];
  const Slot next = neighbour == kNoSlot ? first : after_[neighbour];
  device_[slot] = device;
  before_[slot] = neighbour;
  after_[slot] = next;
  (neighbour == kNoSlot ? first : after_[neighbour]) = slot;
  (next == kNoSlot ? last_[device.index()] : before_[next]) = slot;
}

void Arrangement::unlink(Slot slot) {
  const Slot previous = before_[slot], next = after_[slot];
  const std::size_t device = device_[slot].index();
  notes_.push_back({Change::kUnlink, slot, {}, 0, previous, device_[slot], 0});
  (previous == kNoSlot ? first_[device] : after_[previous]) = next;
  (next == kNoSlot ? last_[device] : before_[next]) = previous;
  if (next != kNoSlot) {
    changed_slots_.push_back(next);
  } else if (previous != kNoSlot) {
    changed_slots_.push_back(previous);
  }
}

void Arrangement::rotate(Slot slot, std::uint32_t position) {
  const std::uint32_t old = position_[slot];
  const auto begin = sequence_.begin();
  if (old < position) {
    std::copy(begin + old + 1, begin + position + 1, begin + old);
  } else {
    std::copy_backward(begin + position, begin + old, begin + old + 1);
  }
  sequence_[position] = slot;
  for (std::uint32_t p = std::min(old, position); p <= std::max(old, position); ++p) {
    position_[sequence_[p]] = p;
  }
}

void Arrangement::move_after(Slot slot, std::int64_t gap) {
  const std::uint32_t old = position_[slot];
  const std::int64_t position = static_cast<std::int64_t>(old) <= gap ? gap : gap + 1;
  notes_.push_back({Change::kRotate, slot, {}, old, kNoSlot, {}, 0});
  rotate(slot, static_cast<std::uint32_t>(position));
}

void Arrangement::update_cost(Slot slot) {
  set_cost(slot, stage_costs_->cost_ms(operators_[slot], device_[slot]));
}

void Arrangement::set_cost(Slot slot, double ms) {
  notes_.push_back({Change::kCost, slot, {}, 0, kNoSlot, {}, cost_ms_[slot]});
  work_ms_ += ms - cost_ms_[slot];
  cost_ms_[slot] = ms;
}

Slot Arrangement::empty_slot_near(std::int64_t gap) const {
  const auto first = static_cast<std::int64_t>(neighbourhood_.first);
  const auto end = static_cast<std::int64_t>(neighbourhood_.end);
  for (std::int64_t distance = 0;; ++distance) {
    const std::int64_t right = gap + 1 + distance, left = gap - distance;
    if (right < end && empty(sequence_[static_cast<std::size_t>(right)])) {
      return sequence_[static_cast<std::size_t>(right)];
    }
    if (left >= first && left < end && empty(sequence_[static_cast<std::size_t>(left)])) {
      return sequence_[static_cast<std::size_t>(left)];
    }
  }
}

void Arrangement::keep() {
  precedences_.keep();
  notes_.clear();
  changed_slots_.clear();
  moved_.clear();
  noted_work_ms_ = work_ms_;
}

void Arrangement::undo() {
  precedences_.undo();
  while (!notes_.empty()) {
    revert(notes_.back());
    notes_.pop_back();
  }
  changed_slots_.clear();
  moved_.clear();
  work_ms_ = noted_work_ms_;
}

void Arrangement::revert(const Note& note) {
  auto& members = operators_[note.slot];
  switch (note.change) {
    case Change::kDetach:
      members.push_back(note.op);
      std::swap(members[note.index], members.back());
      slot_of_[note.op.index()] = note.slot;
      hold(device_[note.slot], problem_->held_bytes(note.op));
      break;
    case Change::kAttach:
      members.pop_back();
      release(device_[note.slot], problem_->held_bytes(note.op));
      break;
    case Change::kLink: {
      const Slot previous = before_[note.slot], next = after_[note.slot];
      const std::size_t device = device_[note.slot].index();
      (previous == kNoSlot ? first_[device] : after_[previous]) = next;
      (next == kNoSlot ? last_[device] : before_[next]) = previous;
      for (OpId op : members) {
        release(device_[note.slot], problem_->held_bytes(op));
        hold(note.device, problem_->held_bytes(op));
      }
      device_[note.slot] = note.device;
      break;
    }
    case Change::kUnlink:
      link_after(note.slot, note.neighbour, note.device);
      break;
    case Change::kRotate:
      rotate(note.slot, note.index);
      break;
    case Change::kCost:
      cost_ms_[note.slot] = note.cost_ms;
      break;
  }
}

Schedule Arrangement::schedule() const {
  Schedule schedule;
  for (Slot slot : first_) {
    auto& stages = schedule.devices.emplace_back();
    for (; slot != kNoSlot; slot = after_[slot]) {
      stages.push_back(stage_costs_->stage(operators_[slot], device_[slot]));
    }
  }
  return schedule;
}

}  // namespace hios::scheduler::best
