#pragma once

#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// Returns an algorithm's schedule for a cold start: its own where it has one, else its
/// schedule for latency completed with loads: with_loads(), or with_shared_lanes() if that is
/// shorter (scheduler/cold/loads.h).
/// `resident_bound` is the bound of that latency, and the context's the bound of the cold start.
/// REQUIRES: a problem with this objective; an algorithm that is for this objective or for latency.
ScheduleResult schedule_cold_start(const Algorithm& algorithm, const Problem& problem,
                                   const Options& options, const Context& context,
                                   const LowerBound& resident_bound);

}  // namespace hios::scheduler
