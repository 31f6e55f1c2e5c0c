#include "scheduler/pipeline/bounds/down_set_bound.h"

namespace hios::scheduler::pipeline {

DownSetBound down_set_bound(const LeastCosts& costs, double at_least_ms, double below_ms,
                            const Deadline& deadline) {
  const auto sets = DownSets::all(costs.problem(), kMaxDownSets, deadline);
  if (!sets) return {{at_least_ms, false, {}}, false};
  return {cheapest_chain(costs, *sets, at_least_ms, below_ms, deadline), true};
}

}  // namespace hios::scheduler::pipeline
