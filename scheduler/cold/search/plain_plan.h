#pragma once

#include "scheduler/cold/search/cold_plan.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::cold {

/// Takes back what does not make a plan shorter: stages of one operator out of the graph's order, loads out of the
/// order of use, parameters from other devices, several lanes of a route. A search leaves many such
/// changes, and a run pays for them: loads in the order of use forgive an operator that is early,
/// and read a packed file from its begin to its end. Ends at the deadline, too.
///
/// Returns a plan that takes at most `limit_ms` by simulate(). REQUIRES: `plan` does.
ColdPlan plainer(const PlanProblem& problem, ColdPlan plan, double limit_ms,
                 const Deadline& deadline);

}  // namespace hios::scheduler::cold
