#include "scheduler/best/moves/moves.h"

#include <algorithm>

#include "scheduler/algorithms/list/strips.h"

// Three changes reach every arrangement: an operator enters another stage, an operator gets a stage
// of its own somewhere, and companions change their device together. Two more are shortcuts through
// worse ones: two operators exchange their stages, and a stage moves as a whole.
//
// Where memory is short, most paths from one valid placement to another overfill a device. So no
// change is refused for that; the search weighs its cost. Some changes are trades of several
// operators between devices (trades.h).
//
// Where transfers are expensive, an operator that leaves its device alone pays for two of them. So
// some changes move a cone (cones.h).
//
// Where links or ports carry one tensor at a time, a transfer is sent before one that delays it, or
// such a decision is taken back.
//
// Operators on long paths are picked more often, since only their moves can shorten the schedule:
// the one of four drawn operators with the greatest through_ms(), and of two where links contend,
// which that length does not count.
//
// Tests: tests/scheduler/best/state/timing_test.cpp (every move leaves a valid schedule),
// tests/scheduler/best/best_test.cpp (constraints).

namespace hios::scheduler::best {
namespace {

constexpr double kExchange = 0.25;   ///< share of moves
constexpr double kMoveStage = 0.1;   ///< share of moves
constexpr double kEnterStage = 0.5;  ///< share of the others, where sharing a stage pays
// Share of trades where memory is short: half of the moves where few placements are valid, as in
// small graphs. In large graphs bytes are finer, and a trade costs more than other moves.
constexpr double kTrade = 0.5;      ///< at most
constexpr double kMinTrade = 0.05;  ///< at least
constexpr double kTradeOperators =
    12;                        ///< divided by the number of operators, clamped to these two
constexpr double kCone = 0.2;  ///< share of moves where transfers are expensive
constexpr double kOrderTransfers = 0.2;     ///< share of moves where links contend
constexpr double kForget = 0.4;             ///< share of those that take a precedence back
constexpr std::size_t kMinPrecedences = 8;  ///< the most precedences, in small graphs
constexpr double kCritical = 0.5;  ///< share of operators picked as the most critical of several
constexpr int kDrawn = 4, kDrawnWithContention = 2;  ///< the operators drawn for one
/// The largest distance of a move in the sequence. Only large graphs have wider ranges, and most
/// positions there are hopeless.
constexpr std::int64_t kReach = 256;

}  // namespace

Moves::Moves(Arrangement& arrangement, const Timing& timing, Random& random)
    : arrangement_(arrangement),
      timing_(timing),
      random_(random),
      trades_(arrangement, random),
      cones_(arrangement, random) {
  const SearchProblem& problem = arrangement.problem();
  for (DeviceId device : problem.usable()) {
    any_sharing_ = any_sharing_ || arrangement.stage_costs().sharing_pays(device);
  }
  any_labels_ = problem.any_companions();
  if (transfers_are_expensive(problem.graph(), problem.costs())) cone_share_ = kCone;
  links_contend_ = problem.links_contend();
  if (problem.memory_binds()) {
    trade_share_ =
        std::clamp(kTradeOperators / static_cast<double>(problem.operators()), kMinTrade, kTrade);
  }
}

void Moves::confine() {
  confined_.clear();
  if (!arrangement_.confined()) return;
  const Neighbourhood neighbourhood = arrangement_.neighbourhood();
  for (std::size_t p = neighbourhood.first; p < neighbourhood.end; ++p) {
    const auto members = arrangement_.operators(arrangement_.at(p));
    confined_.insert(confined_.end(), members.begin(), members.end());
  }
}

bool Moves::propose() {
  if (links_contend_ && below(kOrderTransfers)) return order_transfers();
  const OpId op = pick();
  if (!arrangement_.confined() && trade_share_ > 0 && below(trade_share_))
    return trades_.propose(op);
  if (cone_share_ > 0 && below(cone_share_)) return cones_.propose(op);
  const double kind = random_.uniform();
  if (kind < kExchange) return exchange(op);
  if (kind < kExchange + kMoveStage) return move_stage(op);
  if (any_labels_ && !arrangement_.confined() && !arrangement_.problem().companions(op).empty() &&
      below(0.2)) {
    return move_companions(op);
  }
  return relocate(op);
}

OpId Moves::any_operator() {
  if (!confined_.empty()) return confined_[random_.below(confined_.size())];
  return OpId(random_.below(arrangement_.problem().operators()));
}

OpId Moves::pick() {
  OpId picked = any_operator();
  if (!below(kCritical)) return picked;
  const auto through_ms = [&](OpId op) { return timing_.through_ms(arrangement_.slot_of(op)); };
  const int drawn = links_contend_ ? kDrawnWithContention : kDrawn;
  for (int i = 1; i < drawn; ++i) {
    const OpId other = any_operator();
    if (through_ms(other) > through_ms(picked)) picked = other;
  }
  return picked;
}

bool Moves::may_change_device(OpId op, DeviceId device) const {
  if (device == arrangement_.device_of(op)) return true;
  const SearchProblem& problem = arrangement_.problem();
  return problem.companions(op).empty() && problem.costs().can_run(op, device);
}

/// Picks a stage in the range other than `except`, randomly; kNoSlot if the draw met none.
Slot Moves::pick_stage(const PositionRange& range, Slot except) {
  const std::int64_t here = arrangement_.position(except);
  const auto first = static_cast<std::int64_t>(arrangement_.neighbourhood().first);
  const auto end = static_cast<std::int64_t>(arrangement_.neighbourhood().end) - 1;
  const std::int64_t low = std::max({range.first, first, here - kReach});
  const std::int64_t high = std::min({range.last, end, here + kReach});
  const auto width = static_cast<std::uint64_t>(high - low + 1);
  std::int64_t position = low + static_cast<std::int64_t>(random_.below(width));
  for (; position <= high; ++position) {
    const Slot slot = arrangement_.at(static_cast<std::size_t>(position));
    if (!arrangement_.empty(slot) && slot != except) return slot;
  }
  return kNoSlot;
}

/// Picks a gap in the range, randomly, near `from`. REQUIRES: range.first < range.last.
std::int64_t Moves::pick_gap(const PositionRange& range, Slot from) {
  const std::int64_t here = arrangement_.position(from);
  const std::int64_t low = std::max(range.first, here - kReach);
  const std::int64_t high = std::min(range.last - 1, here + kReach);
  return low + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
}

bool Moves::relocate(OpId op) {
  return any_sharing_ && below(kEnterStage) ? enter_stage(op) : stand_alone(op);
}

bool Moves::enter_stage(OpId op) {
  const Slot slot = pick_stage(arrangement_.range(op), arrangement_.slot_of(op));
  if (slot == kNoSlot) return false;
  const DeviceId device = arrangement_.device(slot);
  if (!arrangement_.stage_costs().sharing_pays(device) || !may_change_device(op, device))
    return false;
  if (arrangement_.operators(slot).size() >= StageCosts::kMaxOperators) return false;
  arrangement_.join(op, slot);
  return true;
}

bool Moves::stand_alone(OpId op) {
  const PositionRange range = arrangement_.range(op);
  if (range.first >= range.last) return false;  // its stage holds a producer and a consumer of it
  const DeviceId device = arrangement_.problem().any_device(random_);
  if (!may_change_device(op, device)) return false;
  arrangement_.isolate(op, device, pick_gap(range, arrangement_.slot_of(op)));
  return true;
}

/// Moves the operator into another stage, and one of that stage to the position that it left.
bool Moves::exchange(OpId op) {
  const Slot left = arrangement_.slot_of(op);
  const DeviceId left_device = arrangement_.device(left);
  const Slot entered = pick_stage(arrangement_.range(op), left);
  if (entered == kNoSlot) return false;
  const auto members = arrangement_.operators(entered);
  const OpId other = members[random_.below(members.size())];
  const DeviceId entered_device = arrangement_.device(entered);
  if (!may_change_device(op, entered_device)) return false;
  arrangement_.join(op, entered);
  const PositionRange range = arrangement_.range(other);
  const std::int64_t position = arrangement_.position(left);
  if (!may_change_device(other, left_device)) return false;
  if (!arrangement_.empty(left)) {
    if (position < range.first || position > range.last) return false;
    arrangement_.join(other, left);
  } else {
    if (position < range.first || position >= range.last) return false;
    arrangement_.isolate(other, left_device, position);
  }
  return true;
}

bool Moves::move_stage(OpId op) {
  const Slot slot = arrangement_.slot_of(op);
  const PositionRange range = arrangement_.range_of_stage(slot);
  const DeviceId device = arrangement_.problem().any_device(random_);
  for (OpId member : arrangement_.operators(slot)) {
    if (!may_change_device(member, device)) return false;
  }
  arrangement_.shift(slot, device, pick_gap(range, slot));
  return true;
}

/// Sends a delayed transfer before the one that delays it, the more critical of two, or takes a
/// precedence back.
bool Moves::order_transfers() {
  Precedences& precedences = arrangement_.precedences();
  const std::size_t most = std::max(kMinPrecedences, arrangement_.problem().operators());
  if (!precedences.empty() && (precedences.size() >= most || below(kForget))) {
    precedences.remove(random_.below(precedences.size()));
    return true;
  }
  const auto delays = timing_.delays();
  if (delays.empty()) return false;
  const Delay& one = delays[random_.below(delays.size())];
  const Delay& other = delays[random_.below(delays.size())];
  const Delay& chosen = below(kCritical) && other.through_ms > one.through_ms ? other : one;
  return precedences.add({chosen.delayed, chosen.by});
}

/// Moves all operators of the label to another device, each to a stage of its own near its
/// position.
bool Moves::move_companions(OpId op) {
  const DeviceId device = arrangement_.problem().any_device(random_);
  if (device == arrangement_.device_of(op)) return false;
  for (OpId member : arrangement_.problem().companions(op)) {
    if (!arrangement_.problem().costs().can_run(member, device)) return false;
    const PositionRange range = arrangement_.range(member);
    if (range.first >= range.last) return false;
    const std::int64_t here = arrangement_.position(arrangement_.slot_of(member));
    arrangement_.isolate(member, device, std::clamp(here, range.first, range.last - 1));
  }
  return true;
}

}  // namespace hios::scheduler::best
