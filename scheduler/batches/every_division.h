#pragma once

#include "scheduler/batches/divisible.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// A latency that no schedule of any division of the inputs can beat.
///
/// The bound is that of another graph: every input's part by itself, which takes the least share
/// that it has of any batch (the least of time × part / batch over the sizes that there are), and
/// whose weights take no memory. Proof. Take any schedule. In place of a batch of k parts put its
/// parts, one after the other, into the same group; each takes no longer than its share of the
/// batch, so no group and no stage takes longer than before. A part's inputs come from parts of
/// batches that the batch waited for, and what travels is no more than did then. So this is a
/// schedule of that graph, no longer than the one that it came from: what bounds all schedules of
/// that graph bounds them all.
///
/// Nothing (0, "none") where stages of several groups are measured: what a batch costs beside
/// others says nothing of what its parts would. `deadline`: as of lower_bound().
LowerBound bound_of_every_division(const DivisibleProblem& problem, const Deadline& deadline = {});

}  // namespace hios::scheduler
