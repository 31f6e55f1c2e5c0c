#pragma once

#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/weights.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// Returns latencies that no cold start can beat, next to the bounds for resident parameters:
/// loads, arrivals and flow_shop, in this order (proofs in the files of scheduler/cold/bounds/).
/// Parameters in `resident` need no load. Memory limits do not count. Throws InputError where an
/// operator takes less in place than with its parameters on the device. REQUIRES: a topology.
/// Linear in operators times sets of parameters, over 64.
std::vector<LowerBound> cold_start_bounds(const Graph& graph, const CostModel& costs,
                                          std::span<const Resident> resident = {});

/// Returns the largest of lower_bound(), since loads only delay stages, and cold_start_bounds(),
/// the first among equals. Memory limits do not count: parameters take no room where they are read
/// in place, take it once where they are shared, and leave it when they are evicted. `deadline` is
/// that of lower_bound(). Throws InputError where an operator takes less in place than with its
/// parameters on the device, which would make lower_bound() no bound. REQUIRES: a topology.
LowerBound cold_start_bound(const Graph& graph, const CostModel& costs,
                            const Deadline& deadline = {}, std::span<const Resident> resident = {});

}  // namespace hios::scheduler
