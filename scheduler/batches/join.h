#pragma once

#include "scheduler/batches/divisible.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// Joins batches of an operator that a device runs, of neighbouring inputs, into one, where the
/// earlier or the later of them stood, and splits batches into their halves where they stand, as
/// long as that makes the schedule shorter: the first that does is taken, until none does or time
/// is up. Never longer than it began.
TimedDivision join_batches(const DivisibleProblem& problem, TimedDivision start,
                           const Context& context);

}  // namespace hios::scheduler
