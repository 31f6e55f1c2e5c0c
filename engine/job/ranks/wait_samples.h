#pragma once

#include <vector>

#include "engine/run/clocks/run_clocks.h"
#include "hios/evaluate/limits/waits.h"
#include "mpi/transport.h"

/// How long ranks wait for each other.
namespace hios::job {

/// The use of each rank's time, as means over the faster half of iterations: the others were
/// disturbed more.
struct RecordedWaits {
  double latency_ms = 0;
  std::vector<DeviceTimes> ranks;  ///< by rank; each adds up to the latency
};

/// Collects one rank's waits over several iterations, from the clocks of its stages and receives.
class WaitSamples {
 public:
  /// Adds an iteration, whose latency is the maximum over ranks, and the same on all of them.
  void add(const RankTimeline& mine, double latency_ms);
  /// Returns the means of all ranks, on every rank. Time in which a rank neither computes nor waits
  /// for a tensor is idle: the executor's own, and the rest of the iteration. Collective. REQUIRES:
  /// an iteration.
  RecordedWaits gather(mpi::Transport& transport) const;

 private:
  struct Iteration {
    double latency_ms = 0, busy_ms = 0;
    std::vector<Wait> waits = {};
    std::vector<LoadWait> load_waits = {};
  };
  std::vector<Iteration> iterations_;
};

}  // namespace hios::job
