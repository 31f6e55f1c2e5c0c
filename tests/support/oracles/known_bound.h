#pragma once

#include "scheduler/bounds/bounds.h"
#include "scheduler/scheduler.h"

namespace hios::test {

/// The bound of a problem's latencies, computed once for all algorithms that are judged on it.
class KnownBound {
 public:
  explicit KnownBound(const CostModel& costs) {
    for_latency_.bound = scheduler::lower_bound(costs.graph(), costs);
  }
  /// Returns a context with the bound, for another objective than the latency one without.
  scheduler::Context context_for(const scheduler::Algorithm& algorithm) const {
    return algorithm.objective == Objective::kLatency ? for_latency_ : scheduler::Context();
  }

 private:
  scheduler::Context for_latency_;
};

}  // namespace hios::test
