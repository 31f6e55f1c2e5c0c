#pragma once

#include "scheduler/scheduler.h"

/// The room's rows of the registry; each is a ScheduleFunction.
namespace hios::scheduler::pipeline {

/// Runs slice_graph(), by the options `order`, `population` and `generations`.
ScheduleResult run_slice_graph(const Problem& problem, const Options& options,
                               const Context& context);

/// Finds the optimum over down-sets (bounds/chains.h) where those are few and a quarter of the time
/// suffices; otherwise runs search_grouped(), by the option `iterations`, until it reaches the
/// bound of the period. Returns kOptimal if it does.
ScheduleResult run_best(const Problem& problem, const Options& options, const Context& context);

}  // namespace hios::scheduler::pipeline
