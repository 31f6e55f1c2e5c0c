#pragma once

#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// Returns the baseline EfficientMIP as Namkoong et al. run it ("SortingHat", section 4.2):
/// sortinghat's submodels, each planned alone by the same program, as if all parameters were there,
/// links were equal and twice as fast. The schedule is completed with loads (with_loads()).
///
/// Throws InputError without a topology, without a solver, where devices differ in the time of an
/// operator, and where labels, memory or routes leave no device.
ScheduleResult schedule_efficient_mip(const Problem& problem, const Options& options,
                                      const Context& context);

}  // namespace hios::scheduler
