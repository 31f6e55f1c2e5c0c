#pragma once

#include "scheduler/scheduler.h"

/// The rows of the registry that prove schedules with solvers; each is a ScheduleFunction.
namespace hios::scheduler::split {

/// Runs milp::schedule_exactly(), by the options `solver`, `symmetry`, `nodes` and `iterations`.
ScheduleResult run_milp(const Problem& problem, const Options& options, const Context& context);

/// Runs schedule_by_modules(), by the same options, `channels` and `modules`.
ScheduleResult run_milp_split(const Problem& problem, const Options& options,
                              const Context& context);

}  // namespace hios::scheduler::split
