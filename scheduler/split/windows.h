#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"
#include "scheduler/scheduler.h"
#include "scheduler/split/split.h"

namespace hios::scheduler::split {

/// The schedule after one part of it after the other was solved with the rest fixed, then parts
/// that straddle two of those, then larger ones; never longer, links not contending. Ends where
/// nothing gains or context.deadline says so. REQUIRES: a valid schedule of one operator a
/// stage.
Schedule improve(const CostModel& costs, Schedule schedule, const SplitOptions& options,
                 const Context& context);

}  // namespace hios::scheduler::split
