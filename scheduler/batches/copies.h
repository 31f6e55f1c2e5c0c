#pragma once

#include <optional>

#include "scheduler/batches/divisible.h"

namespace hios::scheduler {

/// Schedules by data parallelism, a baseline: each device runs the whole network on a share of the
/// inputs, one operator after the other. Its batches have the sizes with the least total time, and
/// the shares minimize the end of the last device. Optimal among such schedules, by dynamic
/// programming over the parts of the inputs: O(devices × parts²). Returns nothing if no shares can
/// be run, because of operators that no device can run together, memory, or labels.
std::optional<TimedDivision> copies(const DivisibleProblem& problem);

}  // namespace hios::scheduler
