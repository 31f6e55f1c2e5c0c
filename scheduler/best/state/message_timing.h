#pragma once

#include <vector>

#include "hios/evaluate/message_run.h"
#include "scheduler/best/state/arrangement.h"

namespace hios::scheduler::best {

/// The ends of an arrangement's stages where messages matter (CostModel::messages_matter), as
/// simulate() computes them without a list of transfers. Always from scratch, as a move may change
/// the bytes or the turn of any message. One thread at a time may use it.
class MessageTiming {
 public:
  explicit MessageTiming(const SearchProblem& problem)
      : run_(problem.platform().contention(), problem.devices()) {}

  /// Computes the latency; returns true if it is at most `limit_ms`. `tail_ms`, by slot: a lower
  /// bound of the time after a stage's end, by which it returns early.
  bool update(const Arrangement& arrangement, const std::vector<double>& tail_ms, double limit_ms);
  /// Returns the latency of the last update() that was true.
  double latency_ms() const { return run_.latency_ms(); }

 private:
  MessageRun run_;
};

}  // namespace hios::scheduler::best
