#pragma once

#include "scheduler/scheduler.h"

/// Cold starts of one device: of all devices, the one on which they are shortest. Operators run in
/// the graph's topological order. Both throw InputError where no device can run and hold all
/// operators, or none of these has a route from a store.
namespace hios::scheduler {

/// Returns a cold start that loads all parameters first, in the order of their use, and then runs:
/// what servers do, and the baseline of every speed-up.
ScheduleResult load_then_run(const Problem& problem, const Options& options,
                             const Context& context);

/// Returns a cold start that loads parameters in the order of their use while it runs.
ScheduleResult pipelined(const Problem& problem, const Options& options, const Context& context);

}  // namespace hios::scheduler
