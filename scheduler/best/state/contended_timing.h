#pragma once

#include <vector>

#include "hios/evaluate/contended_run.h"
#include "scheduler/best/state/arrangement.h"

namespace hios::scheduler::best {

/// When the stages of an arrangement end where links carry one tensor at a time, as simulate() has
/// it without a list of transfers. Always from scratch: a move may change the turn of any tensor.
/// One thread at a time.
class ContendedTiming {
 public:
  explicit ContendedTiming(const SearchProblem& problem)
      : run_(problem.platform().contention(), problem.devices()) {}

  /// True if the latency is at most `limit_ms`. `tail_ms`, by slot: what follows a stage's end at
  /// least; given up as soon as that shows that it is more.
  bool update(const Arrangement& arrangement, const std::vector<double>& tail_ms, double limit_ms);
  /// Of the last update() that was true.
  double latency_ms() const { return run_.latency_ms(); }

 private:
  ContendedRun run_;
};

}  // namespace hios::scheduler::best
