#include "scheduler/list/incremental/shifting_timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduler/list/priorities.h"
#include "scheduler/structures/numbers.h"

// Each device's operators are a list of blocks of some hundred. A block has a shift that counts for
// all its starts. So where a path is added to a busy device, the starts of its block rise one by
// one and those of every later block in one step: its operators follow each other without a gap. In
// a block with gaps they rise one by one until the gaps have absorbed the delay.
//
// A delayed operator may delay consumers on other devices. Each operator knows a slack: the shift
// of its block up to which it delays none. The slack is a lower bound. It was exact when its
// consumers were last read, and they have started no earlier since. A block knows the least slack,
// so consumers are read only where a shift exceeds it. Consumers that must start later are visited
// in order of positions; a visit may repeat where a later one raises the same operators more.
// Starts are the least ones that meet all constraints, in whatever order they rise.
//
// Shifts and sums must be exact, or rounding would decide between devices: (a + b) − b is a only
// then. So times are integers: multiples of 2^-k ms, with k such that the sum of all costs stays
// below 2^52 and every sum is exact as a double, too. A million operators of a second in all leave
// k = 42.
//
// A trial writes in place and records what it changes. Another trial undoes it; if it was the best
// one, keep() runs it again.
//
// Tests: tests/scheduler/list/incremental/shifting_timeline_test.cpp compares it with
// IncrementalTimeline.

namespace hios::scheduler {
namespace {

constexpr int kExactBits = 52;  // sums below 2^52 ticks are exact as doubles

/// Returns the k for which the sum of all costs is below 2^(52-k) ms, but for edges that cost more
/// between some devices than in the mean.
int exact_bits(const Graph& graph, const CostModel& costs) {
  const std::size_t devices = costs.platform().size();
  double sum = 1e-30;
  for (std::size_t d = 0; d < devices; ++d) sum += costs.launch_ms(DeviceId(d));
  for (std::size_t i = 0; i < graph.size(); ++i) {
    double most = 0;
    for (std::size_t d = 0; d < devices; ++d) {
      const double time = costs.operator_ms(OpId(i), DeviceId(d));
      if (time < kInfinity) most = std::max(most, time);
    }
    sum += most;
  }
  for (std::size_t e = 0; e < graph.edge_count(); ++e) {
    const EdgeId edge(e);
    const auto same = costs.transfer_ms(edge);
    sum += same ? *same : costs.mean_transfer_ms(edge) * static_cast<double>(devices);
  }
  int exponent = 0;
  std::frexp(sum, &exponent);
  return kExactBits - exponent;
}

}  // namespace

ShiftingTimeline::ShiftingTimeline(const Graph& graph, const CostModel& costs,
                                   const std::vector<OpId>& order, std::size_t block_operators)
    : graph_(graph),
      costs_(costs),
      order_(order),
      block_operators_(block_operators),
      bits_(exact_bits(graph, costs)),
      position_(positions(order)),
      placed_(graph.size() + 1),
      on_(costs.platform().size()),
      earliest_(graph.size(), 0),
      later_(graph.size()) {
  arcs_.reserve(graph.edge_count());
  for (std::size_t i = 0; i < order.size(); ++i) {
    placed_[i].arcs = static_cast<std::uint32_t>(arcs_.size());
    for (EdgeId e : graph.out_edges(order[i])) {
      const std::size_t to = position_[graph.edge(e).to.index()];
      const auto same = costs.transfer_ms(e);
      arcs_.push_back({static_cast<std::uint32_t>(to), e, same ? ticks(*same) : kByPair});
    }
  }
  placed_.back().arcs = static_cast<std::uint32_t>(arcs_.size());
}

double ShiftingTimeline::ms(Ticks ticks) const {
  return std::ldexp(static_cast<double>(ticks), -bits_);
}

ShiftingTimeline::Ticks ShiftingTimeline::ticks(double ms) const {
  return std::llround(std::ldexp(ms, bits_));
}

ShiftingTimeline::Ticks ShiftingTimeline::start(std::uint32_t position) const {
  return placed_[position].start + blocks_[placed_[position].block].shift;
}

ShiftingTimeline::Ticks ShiftingTimeline::finish(std::uint32_t position) const {
  return start(position) + placed_[position].time;
}

ShiftingTimeline::Ticks ShiftingTimeline::transfer(const Arc& arc, std::uint32_t from,
                                                   std::uint32_t to) const {
  if (from == to) return 0;
  if (arc.transfer != kByPair) return arc.transfer;
  return ticks(costs_.transfer_ms(arc.edge, DeviceId(from), DeviceId(to)));
}

ShiftingTimeline::Ticks ShiftingTimeline::start_after_inputs(std::uint32_t position,
                                                             DeviceId device) const {
  Ticks ready = ticks(costs_.launch_ms(device));
  for (EdgeId e : graph_.in_edges(order_[position])) {
    const auto producer = static_cast<std::uint32_t>(position_[graph_.edge(e).from.index()]);
    if (placed_[producer].block == kNone) continue;
    const DeviceId from(blocks_[placed_[producer].block].device);
    ready = std::max(ready, finish(producer) + ticks(costs_.transfer_ms(e, from, device)));
  }
  return ready;
}

/// Returns the index, among the device's blocks, of the last one that begins before the position,
/// or 0.
std::size_t ShiftingTimeline::block_index(std::uint32_t position, DeviceId device) const {
  const auto& on = on_[device.index()];
  const auto after = std::partition_point(on.begin(), on.end(), [&](std::uint32_t block) {
    return blocks_[block].positions.front() <= position;
  });
  return after == on.begin() ? 0 : static_cast<std::size_t>(after - on.begin()) - 1;
}

double ShiftingTimeline::at_least(const std::vector<OpId>& operators, DeviceId device) const {
  const auto& on = on_[device.index()];
  Ticks reached = latency_, added = 0, later_work = 0;
  std::size_t summed = on.size();  // blocks from here on are in later_work
  for (std::size_t i = operators.size(); i-- > 0;) {
    const auto position = static_cast<std::uint32_t>(position_[operators[i].index()]);
    added += ticks(costs_.operator_ms(operators[i], device));
    Ticks begin = start_after_inputs(position, device);
    Ticks work = 0;
    if (!on.empty()) {
      const std::size_t index = block_index(position, device);
      while (summed > index + 1) later_work += blocks_[on[--summed]].work;
      const auto& here = blocks_[on[index]].positions;
      const auto after = std::lower_bound(here.begin(), here.end(), position);
      for (auto at = after; at != here.end(); ++at) work += placed_[*at].time;
      if (after != here.begin()) begin = std::max(begin, finish(*(after - 1)));
    }
    reached = std::max(reached, begin + added + work + later_work);
  }
  return ms(reached);
}

double ShiftingTimeline::try_adding(const std::vector<OpId>& operators, DeviceId device,
                                    double limit) {
  const double limit_ticks = std::ceil(std::ldexp(limit, bits_));
  const Ticks last =
      limit_ticks < static_cast<double>(kNever) ? static_cast<Ticks>(limit_ticks) : kNever;
  if (latency_ >= last) return kInfinity;
  undo();
  last_.device = device;
  last_.positions.clear();
  for (OpId op : operators) {
    last_.positions.push_back(static_cast<std::uint32_t>(position_[op.index()]));
  }
  last_is_best_ = false;
  if (run(last_, last)) return ms(trial_latency_);
  undo();
  return kInfinity;
}

void ShiftingTimeline::remember() {
  best_ = last_;
  last_is_best_ = true;
}

void ShiftingTimeline::keep() {
  if (!last_is_best_) {
    undo();
    last_ = best_;
    run(last_, kNever);
  }
  commit();
}

void ShiftingTimeline::record(std::uint32_t position) {
  changes_.push_back({position, false, placed_[position].start, placed_[position].slack});
}

void ShiftingTimeline::record_block(std::uint32_t block) {
  changes_.push_back({block, true, blocks_[block].shift, blocks_[block].least_slack});
}

/// Undoes the trial in place.
void ShiftingTimeline::undo() {
  if (!trial_in_place_) return;
  trial_in_place_ = false;
  later_.clear();
  for (std::size_t i = changes_.size(); i-- > 0;) {
    const Change& change = changes_[i];
    if (change.of_block) {
      blocks_[change.index].shift = change.start_or_shift;
      blocks_[change.index].least_slack = change.slack;
    } else {
      placed_[change.index].start = change.start_or_shift;
      placed_[change.index].slack = change.slack;
    }
  }
  changes_.clear();
  for (const std::uint32_t position : last_.positions) {
    Block& block = blocks_[placed_[position].block];
    block.positions.erase(
        std::lower_bound(block.positions.begin(), block.positions.end(), position));
    block.work -= placed_[position].time;
    block.added = false;
    placed_[position].block = kNone;
  }
  auto& on = on_[last_.device.index()];
  if (!blocks_[on.front()].positions.empty()) return;
  on.clear();  // the trial's own block, the last one made
  blocks_.pop_back();
}

/// Makes the trial in place permanent.
void ShiftingTimeline::commit() {
  trial_in_place_ = last_is_best_ = false;
  changes_.clear();
  latency_ = trial_latency_;
  for (const std::uint32_t position : last_.positions) {
    blocks_[placed_[position].block].added = false;
  }
  const auto& on = on_[last_.device.index()];
  for (std::size_t i = 0; i < on.size(); ++i) {
    while (blocks_[on[i]].positions.size() > 2 * block_operators_) split(i, last_.device);
  }
}

/// Moves the operators of a block but the first ones to a new one.
void ShiftingTimeline::split(std::size_t index, DeviceId device) {
  auto& on = on_[device.index()];
  const auto id = static_cast<std::uint32_t>(blocks_.size());
  blocks_.push_back(blocks_[on[index]]);
  Block& first = blocks_[on[index]];
  Block& second = blocks_[id];
  first.positions.resize(block_operators_);
  second.positions.erase(second.positions.begin(),
                         second.positions.begin() + static_cast<long>(block_operators_));
  for (const std::uint32_t position : second.positions) {
    placed_[position].block = id;
    first.work -= placed_[position].time;
  }
  second.work -= first.work;
  on.insert(on.begin() + static_cast<long>(index) + 1, id);
}

Schedule ShiftingTimeline::schedule() const {
  std::vector<std::vector<OpId>> operators(on_.size());
  for (std::size_t d = 0; d < on_.size(); ++d) {
    for (const std::uint32_t block : on_[d]) {
      for (const std::uint32_t position : blocks_[block].positions) {
        if (placed_[position].block != kNone) operators[d].push_back(order_[position]);
      }
    }
  }
  Schedule schedule;
  for (const auto& order : operators) schedule.devices.push_back(one_operator_stages(order));
  return schedule;
}

}  // namespace hios::scheduler
