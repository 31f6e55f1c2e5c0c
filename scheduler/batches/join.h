#pragma once

#include "scheduler/batches/divisible.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// Shortens a schedule by local changes: joins two batches of an operator on a device, of
/// neighbouring inputs, at the position of either, and splits a batch into halves at its position.
/// Takes the first change that makes the schedule shorter, until none does or the deadline expires.
/// The result is never longer than `start`.
TimedDivision join_batches(const DivisibleProblem& problem, TimedDivision start,
                           const Context& context);

}  // namespace hios::scheduler
