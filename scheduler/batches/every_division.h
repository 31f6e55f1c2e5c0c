#pragma once

#include "scheduler/batches/divisible.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// Returns a latency that no schedule of any division of the inputs can beat.
///
/// It is the bound of another graph, in which each part of the inputs runs by itself. A part takes
/// the least share that it has of any batch (the minimum of time × part / batch over the available
/// sizes), and its weights take no memory. Proof: take any schedule and replace each batch of k
/// parts by its parts, one after the other, in the same group. Each part takes at most its share of
/// the batch, so no group and no stage takes longer than before. A part's inputs come from parts of
/// batches that the batch waited for, and no more bytes are sent than before. So this is a schedule
/// of that graph, no longer than the original one, and a bound for all schedules of that graph
/// holds.
///
/// Two other bounds count where they are greater. One is that of a single part in batches of its
/// own: no batch that holds it takes less than the shortest batch, and without all others the
/// schedule is no longer. The other is of what must follow an operator (dependency_bound.h).
///
/// Returns 0, "none" if stages of several groups are measured: the cost of a batch in such a stage
/// implies no cost of its parts. `deadline` is that of lower_bound().
LowerBound bound_of_every_division(const DivisibleProblem& problem, const Deadline& deadline = {});

}  // namespace hios::scheduler
