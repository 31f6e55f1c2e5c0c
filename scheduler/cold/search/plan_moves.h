#pragma once

#include "hios/base/numbers/random.h"
#include "scheduler/cold/search/cold_plan.h"

namespace hios::scheduler::cold {

/// Makes one random move: stages to another device or position, a load earlier or later, through
/// another device, a read in place, other lanes, or stages of several operators taken apart.
/// Returns false where the chosen one changes nothing.
bool make_move(const PlanProblem& problem, ColdPlan& plan, Random& random);

}  // namespace hios::scheduler::cold
