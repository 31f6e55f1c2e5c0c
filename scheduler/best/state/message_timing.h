#pragma once

#include <span>
#include <vector>

#include "hios/evaluate/message_run.h"
#include "scheduler/best/state/arrangement.h"

namespace hios::scheduler::best {

/// A transfer that waits for another one on its link or port.
struct Delay {
  PlannedTransfer delayed, by;
  double through_ms =
      0;  ///< the longest path through the delayed transfer, after it by edges alone
};

/// The ends of an arrangement's stages where messages matter (CostModel::messages_matter), as
/// simulate() computes them, with the arrangement's precedences of transfers. Always from scratch,
/// as a move may change the bytes or the turn of any message. One thread at a time may use it.
class MessageTiming {
 public:
  explicit MessageTiming(const SearchProblem& problem)
      : run_(problem.platform().contention(), problem.devices()) {}

  /// Computes the latency; returns true if it is at most `limit_ms`, and false if it is not or
  /// transfers deadlock. `tail_ms`, by slot: a lower bound of the time after a stage's end, by
  /// which it returns early.
  bool update(const Arrangement& arrangement, const std::vector<double>& tail_ms, double limit_ms);
  /// Returns the latency of the last update() that was true.
  double latency_ms() const { return run_.latency_ms(); }

  /// Lists the delays of the last update(), which delays() returns from then on. REQUIRES: that
  /// update() was true; the same arguments.
  void keep(const Arrangement& arrangement, const std::vector<double>& tail_ms);
  std::span<const Delay> delays() const { return delays_; }

  /// Returns the transfers in the order of the last update(). REQUIRES: it was true.
  std::vector<PlannedTransfer> order() const;
  /// Returns the precedences by which neighbours on a channel would be sent in this order, where
  /// the last update() sent them in the reverse one. REQUIRES: it was true.
  std::vector<TransferPrecedence> inversions(const Arrangement& arrangement,
                                             std::span<const PlannedTransfer> order) const;

 private:
  MessageRun run_;
  std::vector<Delay> delays_;
};

/// Returns the arrangement's schedule. Where it has precedences, the schedule lists the order of
/// transfers.
Schedule schedule_with_order(const Arrangement& arrangement);

/// Gives the arrangement precedences by which it carries transfers in this order, as few as the
/// order first ready, first sent leaves open. REQUIRES: `order` is that of a valid schedule of the
/// arrangement; it has no precedences; no changes are noted.
void impose(Arrangement& arrangement, std::span<const PlannedTransfer> order);

}  // namespace hios::scheduler::best
