#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"
#include "scheduler/scheduler.h"
#include "scheduler/split/split.h"

namespace hios::scheduler::split {

/// Improves a schedule by large-neighbourhood search: one neighbourhood after the other is solved
/// with the rest fixed, then those that straddle two of them, then larger ones. The result is never
/// longer, if links do not contend. Ends when no neighbourhood gains or the deadline expires.
/// REQUIRES: a valid schedule of one operator a stage.
Schedule improve_by_neighbourhoods(const CostModel& costs, Schedule schedule,
                                   const SplitOptions& options, const Context& context);

}  // namespace hios::scheduler::split
