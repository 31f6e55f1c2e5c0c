#pragma once

#include "hios/base/numbers/random.h"
#include "scheduler/best/moves/trades.h"
#include "scheduler/best/state/arrangement.h"
#include "scheduler/best/state/timing.h"

namespace hios::scheduler::best {

/// Random changes of an arrangement, within everything that a schedule must keep but memory: order,
/// devices that may run an operator, shared devices.
class Moves {
 public:
  /// All outlive the moves.
  Moves(Arrangement& arrangement, const Timing& timing, Random& random);

  /// Applies one. False where the random choice found none: the arrangement may then have noted
  /// changes, which must be undone.
  bool propose();

  /// Follows Arrangement::confine(): only what stands in the window is moved, and nothing that
  /// would move others with it.
  void confine();

 private:
  OpId any_operator();
  OpId pick();
  bool relocate(OpId op);
  bool enter_stage(OpId op);
  bool stand_alone(OpId op);
  bool exchange(OpId op);
  bool move_stage(OpId op);
  bool move_companions(OpId op);
  bool may_change_device(OpId op, DeviceId device) const;
  Slot pick_stage(const PositionRange& range, Slot except);
  std::int64_t pick_gap(const PositionRange& range, Slot from);
  bool below(double share) { return random_.uniform() < share; }

  Arrangement& arrangement_;
  const Timing& timing_;
  Random& random_;
  bool any_sharing_ = false;  ///< stages of several operators pay on some device
  bool any_labels_ = false;
  double trade_share_ = 0;
  std::vector<OpId> confined_;  ///< the operators in the window; empty where it is the whole
  Trades trades_;
};

}  // namespace hios::scheduler::best
