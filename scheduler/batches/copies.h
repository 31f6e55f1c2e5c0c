#pragma once

#include <optional>

#include "scheduler/batches/divisible.h"

namespace hios::scheduler {

/// Data parallelism, what others are to be compared with: each device runs the whole network on a
/// share of the inputs, one operator after the other, in batches of the sizes that take it least
/// time; shares are such that the last device ends as early as can be. Exact for that, by dynamic
/// programming over the parts of the inputs: O(devices × parts²). Nothing where no shares can be
/// run: operators that no device runs all of, memory, labels that keep operators together.
std::optional<TimedDivision> copies(const DivisibleProblem& problem);

}  // namespace hios::scheduler
