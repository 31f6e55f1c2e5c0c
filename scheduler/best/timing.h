#pragma once

#include <vector>

#include "scheduler/best/arrangement.h"
#include "scheduler/structures/position_set.h"

namespace hios::scheduler::best {

/// When the stages of an arrangement end, as simulate() has it, and the tail of each: the longest
/// path from its end to the end of the schedule. Both follow changes without a new computation.
class Timing {
 public:
  /// `arrangement` outlives the timing and has no changes noted.
  explicit Timing(const Arrangement& arrangement);

  double latency_ms() const { return latency_ms_; }
  double end_ms(Slot slot) const { return end_ms_[slot]; }
  double tail_ms(Slot slot) const { return tail_ms_[slot]; }
  /// The longest path through the stage: the latency where it is critical.
  double through_ms(Slot slot) const { return end_ms_[slot] + tail_ms_[slot]; }

  /// Times what the arrangement notes as changed. True if the latency is now at most `limit_ms`;
  /// keep() or undo() must follow, before the arrangement's own. False if it is not: all times but
  /// latency_ms() are then as before already.
  bool update(double limit_ms);
  void keep();
  void undo();

  /// Computes everything from scratch.
  void recompute();

 private:
  double ready_ms(Slot slot) const;
  double rest_ms(Slot slot) const;
  std::size_t mark_changes();
  void mark_followers(Slot slot);
  void mark_origins(Slot slot);
  double greatest_end() const;

  const Arrangement* arrangement_;
  std::vector<double> end_ms_, tail_ms_;  // by slot
  double latency_ms_ = 0;
  double kept_latency_ms_ = 0;
  PositionSet waiting_;  ///< positions to be visited; empty between calls
  struct Old {
    Slot slot;
    double end_ms;
  };
  std::vector<Old> old_ends_;
};

}  // namespace hios::scheduler::best
