#pragma once

#include <cstdint>
#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/best/moves/cones.h"
#include "scheduler/best/moves/trades.h"
#include "scheduler/best/state/arrangement.h"
#include "scheduler/best/state/timing.h"

namespace hios::scheduler::best {

/// Random changes of an arrangement that keep all constraints but memory: order, devices that may
/// run an operator, shared devices. Where links contend, also changes of the precedences of
/// transfers, which may deadlock (Timing::update() then refuses them).
class Moves {
 public:
  /// All outlive the moves.
  Moves(Arrangement& arrangement, const Timing& timing, Random& random);

  /// Applies a random change. Returns false if the draw found none; the arrangement may then have
  /// noted changes, which must be undone.
  bool propose();

  /// Follows Arrangement::confine(): moves only operators in the neighbourhood, and none whose move
  /// would move others.
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
  bool order_transfers();
  bool may_change_device(OpId op, DeviceId device) const;
  Slot pick_stage(const PositionRange& range, Slot except);
  std::int64_t pick_gap(const PositionRange& range, Slot from);
  bool below(double share) { return random_.uniform() < share; }

  Arrangement& arrangement_;
  const Timing& timing_;
  Random& random_;
  bool any_sharing_ = false;  ///< stages of several operators pay on some device
  bool any_labels_ = false;
  bool links_contend_ = false;
  double trade_share_ = 0, cone_share_ = 0;
  std::vector<OpId> confined_;  ///< operators in the neighbourhood; empty for the whole sequence
  Trades trades_;
  Cones cones_;
};

}  // namespace hios::scheduler::best
