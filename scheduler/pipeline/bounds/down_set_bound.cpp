#include "scheduler/pipeline/bounds/down_set_bound.h"

namespace hios::scheduler::pipeline {

DownSetBound down_set_bound(const LeastCosts& costs, double at_least_ms, double below_ms,
                            const std::function<bool()>& stop) {
  const auto sets = DownSets::all(costs.problem(), kMostDownSets, stop);
  if (!sets) return {{at_least_ms, false, {}}, false};
  return {cheapest_chain(costs, *sets, at_least_ms, below_ms, stop), true};
}

}  // namespace hios::scheduler::pipeline
