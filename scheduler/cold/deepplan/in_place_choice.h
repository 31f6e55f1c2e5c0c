#pragma once

#include <cstddef>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/graph/parameters.h"
#include "scheduler/cold/deepplan/split_loads.h"

namespace hios::scheduler::deepplan {

/// Returns the sets of parameters whose reads in place shorten the stalls of the device, by an
/// estimate from the timeline of the plan's schedule, in the order in which its operators stall.
/// None of them is read in place yet, nor in `refused` (by set). REQUIRES: the schedule of the plan
/// for this order of operators, and simulate()'s timeline of it.
std::vector<std::size_t> choose_in_place(const Plan& plan, const std::vector<OpId>& order,
                                         const Schedule& schedule, const Timeline& timeline,
                                         const ParameterSets& parameters, const CostModel& costs,
                                         const std::vector<bool>& refused);

}  // namespace hios::scheduler::deepplan
