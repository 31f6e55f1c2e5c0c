#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduler/best/state/arrangement.h"
#include "scheduler/best/state/message_timing.h"
#include "scheduler/structures/position_set.h"

namespace hios::scheduler::best {

/// The ends of an arrangement's stages, equal to simulate()'s, and the tail of each: the longest
/// path from its end to the end of the schedule. Both are updated incrementally.
///
/// Where messages matter (CostModel::messages_matter), these ends and tails are those by each edge
/// alone, and the latency is that by messages. A move that passes the test by edges is computed
/// from scratch by messages.
///
/// In a confined arrangement, ends before the neighbourhood and tails after it cannot change. Only
/// times within are updated, and the latency is that of the longest path through the neighbourhood;
/// recompute() updates all others. So neighbourhoods are visited from the first to the last.
class Timing {
 public:
  /// `arrangement` outlives the timing and has no changes noted.
  explicit Timing(const Arrangement& arrangement);

  double latency_ms() const { return latency_ms_; }
  double end_ms(Slot slot) const { return end_ms_[slot]; }
  double tail_ms(Slot slot) const { return tail_ms_[slot]; }
  /// Returns the longest path through the stage: without contention the latency if it is critical.
  double through_ms(Slot slot) const { return end_ms_[slot] + tail_ms_[slot]; }

  /// Updates times after the arrangement's noted changes. Returns true if the latency is at most
  /// `limit_ms`; keep() or undo() must follow, before the arrangement's own. Otherwise returns
  /// false and leaves all times as before.
  bool update(double limit_ms);
  void keep();
  void undo();

  /// Returns the delays of transfers in the state that was last kept (MessageTiming::keep()); none
  /// where links do not contend.
  std::span<const Delay> delays() const {
    return messages_ ? messages_->delays() : std::span<const Delay>();
  }

  /// Computes everything from scratch. REQUIRES: the arrangement is not confined.
  void recompute();
  /// Computes ends after the arrangement was confined. REQUIRES: messages do not matter; since
  /// recompute(), changes in earlier neighbourhoods only, each followed by leave_neighbourhood().
  void enter_neighbourhood();
  /// Computes ends before the arrangement is confined to the next neighbourhood, after any changes.
  void leave_neighbourhood() { recompute_ends(); }

 private:
  double ready_ms(Slot slot) const;
  double rest_ms(Slot slot) const;
  bool followed(Slot slot) const {
    return arrangement_->neighbourhood().holds(arrangement_->position(slot));
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
  std::optional<MessageTiming> messages_;
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
