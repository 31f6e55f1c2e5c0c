#pragma once

#include "scheduler/scheduler.h"

/// What the registry lists of this room; each is a ScheduleFunction.
namespace hios::scheduler::pipeline {

/// slice_graph(), by the options `order`, `population` and `generations`.
ScheduleResult run_slice_graph(const Problem& problem, const Options& options,
                               const Context& context);

/// The optimum by down-sets (bounds/chains.h) where those are few and a quarter of the time is
/// enough; else search_grouped(), by the option `iterations`, until the bound, which is of the
/// period. kOptimal where it is reached.
ScheduleResult run_best(const Problem& problem, const Options& options, const Context& context);

}  // namespace hios::scheduler::pipeline
