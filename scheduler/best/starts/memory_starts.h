#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::best {

/// Fills devices one after the other with operators in some order, so that consumers share a device
/// with their producers as far as memory allows. Orders: by priority, depth first, the graph's, by
/// the fastest device's gain for a byte. Devices are filled completely or by their share of the
/// work, the fastest first or the largest. Returns the shortest schedule by simulate() of those
/// tried until the deadline, at least one. Throws InputError where every device could hold all
/// operators, and where no filling fits.
Schedule fill_in_order(const Graph& graph, const CostModel& costs, const Deadline& deadline);

}  // namespace hios::scheduler::best
