#pragma once

#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// Returns a cold start of one device by DeepPlan, as Namkoong et al., "SortingHat", sections 2.1
/// and 3.2, describe it. The option `split` names the way of parameters over the buses of two
/// devices (deepplan/split_loads.h). While an operator stalls for its load, reads in place replace
/// loads where that shortens the plan by simulate(). The shortest over all devices and second
/// devices, and without a second one; so it is never longer than `pipelined`. Throws InputError
/// where no device can run and hold all operators, or none of these has a route from a store.
ScheduleResult deepplan_schedule(const Problem& problem, const Options& options,
                                 const Context& context);

}  // namespace hios::scheduler
