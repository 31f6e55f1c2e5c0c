#pragma once

#include <optional>

#include "scheduler/batches/divisible.h"
#include "scheduler/deadline.h"

/// Rules that divide the inputs operator by operator: the batched forms of MET, greedy and HEFT
/// (Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for Mapping Neural Networks onto
/// Heterogeneous Platforms", section V-A: "the best batch-device combination for each task").
///
/// An operator has at most one batch on a device, and devices take neighbouring inputs in their
/// order. Of all such shares of the inputs, the one counts whose last batch is over first; it stays
/// as it is chosen. Each function returns nothing where some operator has no share with times,
/// where the shares break a rule of schedules, as memory limits, or once the deadline has expired.
namespace hios::scheduler {

/// bMET: breadth first; a batch is over after its own time, whatever else runs there.
std::optional<TimedDivision> divide_by_times(const DivisibleProblem& problem,
                                             const Deadline& deadline);
/// bGreedy: breadth first; a batch is over at its end on its device.
std::optional<TimedDivision> divide_greedily(const DivisibleProblem& problem,
                                             const Deadline& deadline);
/// bHEFT: as bGreedy, in the order of upward ranks.
std::optional<TimedDivision> divide_by_ranks(const DivisibleProblem& problem,
                                             const Deadline& deadline);
/// Returns the shortest of the three.
std::optional<TimedDivision> divide_by_any(const DivisibleProblem& problem,
                                           const Deadline& deadline);

}  // namespace hios::scheduler
