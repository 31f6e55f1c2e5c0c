#pragma once

#include <optional>
#include <vector>

#include "scheduler/best/state/arrangement.h"
#include "scheduler/best/state/contended_timing.h"
#include "scheduler/structures/position_set.h"

namespace hios::scheduler::best {

/// When the stages of an arrangement end, as simulate() has it, and the tail of each: the longest
/// path from its end to the end of the schedule. Both follow changes without a new computation.
///
/// Where links carry one tensor at a time, these ends and tails are those without contention, the
/// latency is that with it: what passes the quick test of the former is computed anew.
///
/// Where the arrangement is confined to a window, ends before it and tails behind it cannot change.
/// Only times within are followed, and the latency is that of the longest path through the window;
/// recompute() brings all others up to date. So windows are gone through from the first to the
/// last.
class Timing {
 public:
  /// `arrangement` outlives the timing and has no changes noted.
  explicit Timing(const Arrangement& arrangement);

  double latency_ms() const { return latency_ms_; }
  double end_ms(Slot slot) const { return end_ms_[slot]; }
  double tail_ms(Slot slot) const { return tail_ms_[slot]; }
  /// The longest path through the stage: without contention the latency where it is critical.
  double through_ms(Slot slot) const { return end_ms_[slot] + tail_ms_[slot]; }

  /// Times what the arrangement notes as changed. True if the latency is now at most `limit_ms`;
  /// keep() or undo() must follow, before the arrangement's own. False if it is not: all times are
  /// then as before already.
  bool update(double limit_ms);
  void keep();
  void undo();

  /// Computes everything from scratch. REQUIRES: the arrangement is not confined.
  void recompute();
  /// Once the arrangement is confined to a window. REQUIRES: no contention; since recompute(),
  /// changes in the windows before it only, each followed by leave_window().
  void enter_window();
  /// Before the arrangement is confined to the next one, whatever has become of this one.
  void leave_window() { recompute_ends(); }

 private:
  double ready_ms(Slot slot) const;
  double rest_ms(Slot slot) const;
  bool followed(Slot slot) const {
    return arrangement_->window().holds(arrangement_->position(slot));
  }
  void mark(Slot slot) {
    if (followed(slot)) waiting_.insert(arrangement_->position(slot));
  }
  std::size_t last_change() const;
  void mark_changes();
  void mark_followers(Slot slot);
  void mark_origins(Slot slot);
  void recompute_ends();
  bool settle(double limit_ms);
  void follow_tails();
  double greatest_end() const;
  double greatest_through() const;

  const Arrangement* arrangement_;
  std::vector<double> end_ms_, tail_ms_;  // by slot
  std::optional<ContendedTiming> contended_;
  double latency_ms_ = 0;
  double kept_latency_ms_ = 0;
  PositionSet waiting_;  ///< positions to be visited; empty between calls
  struct Old {
    Slot slot;
    double ms;
  };
  std::vector<Old> old_ends_, old_tails_;
};

}  // namespace hios::scheduler::best
