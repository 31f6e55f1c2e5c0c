#include <algorithm>

#include "scheduler/list/incremental/shifting_timeline.h"

// The delays of a trial (the essay is in shifting_timeline.cpp): an added operator delays those
// after it on its device, block by block, and these delay consumers on other devices, which are
// visited in order of positions.

namespace hios::scheduler {

/// Adds the operators and delays others. Returns false once the latency is known to reach the
/// limit.
bool ShiftingTimeline::run(const Trial& trial, Ticks limit) {
  trial_in_place_ = true;
  trial_latency_ = latency_;
  next_later_ = order_.size();
  for (const std::uint32_t position : trial.positions) add(position, trial.device);
  return propagate(limit);
}

/// Adds an operator after those before it, to be visited.
void ShiftingTimeline::add(std::uint32_t position, DeviceId device) {
  auto& on = on_[device.index()];
  if (on.empty()) {
    on.push_back(static_cast<std::uint32_t>(blocks_.size()));
    blocks_.emplace_back().device = static_cast<std::uint32_t>(device.index());
    blocks_.back().positions.reserve(2 * block_operators_);
  }
  const bool first = blocks_[on.front()].positions.empty();
  const std::uint32_t id = on[first ? 0 : block_index(position, device)];
  record_block(id);
  Block& block = blocks_[id];
  Placed& placed = placed_[position];
  placed.time = ticks(costs_.operator_ms(order_[position], device));
  Ticks begin = start_after_inputs(position, device);
  const auto at = std::lower_bound(block.positions.begin(), block.positions.end(), position);
  if (at != block.positions.begin()) begin = std::max(begin, finish(*(at - 1)));
  block.positions.insert(at, position);
  block.added = true;
  block.work += placed.time;
  placed.block = id;
  placed.start = begin - block.shift;
  placed.slack = -kNever;
  for (EdgeId e : graph_.in_edges(order_[position])) {
    const auto producer = static_cast<std::uint32_t>(position_[graph_.edge(e).from.index()]);
    const Placed& input = placed_[producer];
    if (input.block == kNone || blocks_[input.block].device == device.index()) continue;
    const DeviceId from(blocks_[input.block].device);
    const Ticks sent = ticks(costs_.transfer_ms(e, from, device));
    lower_slack(producer, begin - sent - input.time - input.start);
  }
  delay_later(position, begin);
}

/// Visits operators to be delayed until there is none.
bool ShiftingTimeline::propagate(Ticks limit) {
  for (auto at = later_.next(next_later_); at; at = later_.next(next_later_)) {
    later_.erase(*at);
    next_later_ = *at;
    if (!delay_from(static_cast<std::uint32_t>(*at), earliest_[*at], limit)) return false;
  }
  return true;
}

/// Lets an operator start no earlier than that, and all others of its device after the one before.
bool ShiftingTimeline::delay_from(std::uint32_t position, Ticks earliest, Ticks limit) {
  std::uint32_t id = placed_[position].block;
  const auto& positions = blocks_[id].positions;
  const auto at = std::lower_bound(positions.begin(), positions.end(), position);
  const auto first = static_cast<std::size_t>(at - positions.begin());
  record_block(id);
  record(position);
  if (start(position) < earliest) {
    const Ticks by = earliest - start(position);
    placed_[position].start += by;
    placed_[position].slack -= by;
  }
  check_consumers(position);
  earliest = finish(position);
  trial_latency_ = std::max(trial_latency_, earliest);
  if (earliest >= limit) return false;
  if (!delay_operators(id, first + 1, earliest)) return true;
  const DeviceId device(blocks_[id].device);
  const auto& on = on_[device.index()];
  for (std::size_t index = block_index(position, device) + 1; index < on.size(); ++index) {
    id = on[index];
    const Block& block = blocks_[id];
    const std::uint32_t front = block.positions.front(), back = block.positions.back();
    const Ticks by = earliest - start(front);
    if (by <= 0) return true;
    record_block(id);
    const bool has_gaps = finish(back) - start(front) != block.work;
    if (block.added || has_gaps) {
      if (!delay_operators(id, 0, earliest)) return true;
    } else {
      delay_block(id, by);
      earliest = finish(back);
    }
    if (earliest >= limit) return false;
  }
  trial_latency_ = std::max(trial_latency_, earliest);
  return earliest < limit;
}

/// Delays operators of a block one by one from an index on, the first until `earliest`, which then
/// is the end of the last. Returns false where a gap has absorbed the delay.
bool ShiftingTimeline::delay_operators(std::uint32_t id, std::size_t first, Ticks& earliest) {
  Block& block = blocks_[id];
  for (std::size_t i = first; i < block.positions.size(); ++i) {
    const std::uint32_t position = block.positions[i];
    Placed& placed = placed_[position];
    const Ticks by = earliest - placed.start - block.shift;
    if (by <= 0) return false;
    record(position);
    placed.start += by;
    placed.slack -= by;
    if (placed.slack < block.shift) {
      check_consumers(position);
    } else {
      block.least_slack = std::min(block.least_slack, placed.slack);
    }
    earliest += placed.time;
  }
  return true;
}

/// Delays all operators of a block without gaps.
void ShiftingTimeline::delay_block(std::uint32_t id, Ticks by) {
  Block& block = blocks_[id];
  block.shift += by;
  if (block.least_slack >= block.shift) return;
  Ticks least = kNever;
  for (const std::uint32_t position : block.positions) {
    if (placed_[position].slack < block.shift) {
      record(position);
      check_consumers(position);
    }
    least = std::min(least, placed_[position].slack);
  }
  block.least_slack = least;
}

/// Sets an operator's slack by its consumers on other devices; those that start too early are to be
/// delayed.
void ShiftingTimeline::check_consumers(std::uint32_t position) {
  Placed& placed = placed_[position];
  Block& block = blocks_[placed.block];
  const Ticks end = finish(position);
  Ticks least = kNever;
  for (std::uint32_t a = placed.arcs; a < placed_[position + 1].arcs; ++a) {
    const Arc& arc = arcs_[a];
    const std::uint32_t consumer_block = placed_[arc.position].block;
    if (consumer_block == kNone) continue;
    const std::uint32_t to = blocks_[consumer_block].device;
    if (to == block.device) continue;
    const Ticks arrival = end + transfer(arc, block.device, to);
    const Ticks slack = start(arc.position) - arrival;
    if (slack < 0) delay_later(arc.position, arrival);
    least = std::min(least, std::max<Ticks>(slack, 0));
  }
  placed.slack = least == kNever ? kNever : least + block.shift;
  block.least_slack = std::min(block.least_slack, placed.slack);
}

/// Lowers a slack for a consumer on trial.
void ShiftingTimeline::lower_slack(std::uint32_t position, Ticks slack) {
  Placed& placed = placed_[position];
  if (placed.slack <= slack) return;
  record_block(placed.block);
  record(position);
  placed.slack = slack;
  Block& block = blocks_[placed.block];
  block.least_slack = std::min(block.least_slack, slack);
}

/// Lets an operator be visited, to start no earlier than that.
void ShiftingTimeline::delay_later(std::uint32_t position, Ticks earliest) {
  const bool waits = later_.next(position) == position;
  earliest_[position] = waits ? std::max(earliest_[position], earliest) : earliest;
  later_.insert(position);
  next_later_ = std::min<std::size_t>(next_later_, position);
}

}  // namespace hios::scheduler
