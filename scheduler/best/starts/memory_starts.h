#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::best {

/// Devices filled one after the other with operators in some order, so that what is read stands
/// where it was made as far as memory allows: by priority, depth first, in the graph's order, by
/// what the fastest device gains for a byte; each device as full as it will be or with its share of
/// the work; the fastest first or the largest. The shortest by simulate(); those that were tried
/// until the deadline, at least one. Throws InputError where every device could hold
/// all operators, and where none of these fits.
Schedule fill_in_order(const Graph& graph, const CostModel& costs, const Deadline& deadline);

}  // namespace hios::scheduler::best
