#pragma once

#include "scheduler/batches/divisible.h"
#include "scheduler/batches/sized_times.h"

namespace hios::scheduler {

/// Returns a latency that no schedule of any division of the inputs can beat, by the load that must
/// follow an operator: the bound of Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for
/// Mapping Neural Networks onto Heterogeneous Platforms", section IV-B2 (L − b + 1 inputs through
/// dep(I) after a load of b), for every operator in place of a cut between modules. Returns 0 for
/// large graphs, and where groups of one stage may run at the same time. `times` are the problem's.
/// O(V·(V + E)·parts).
double dependency_bound_ms(const DivisibleProblem& problem, const SizedTimes& times);

}  // namespace hios::scheduler
