#pragma once

#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/weights.h"
#include "scheduler/bounds/bounds.h"

namespace hios::scheduler {

/// Returns latencies that no cold start can beat, next to the bounds for resident parameters:
/// loads, arrivals and flow_shop, in this order (proofs in the files of scheduler/cold/bounds/).
/// Parameters in `resident` need no load. Throws InputError where an operator takes less in place
/// than with its parameters on the device. REQUIRES: a topology. Linear in operators times sets of
/// parameters, over 64.
std::vector<LowerBound> cold_start_bounds(const Graph& graph, const CostModel& costs,
                                          std::span<const Resident> resident = {});

/// Returns the largest of cold_start_bounds() and `resident_bound`, the bound where all parameters
/// are on the devices, since loads only delay stages. The first among equals, `resident_bound`
/// before all. Throws InputError where an operator takes less in place than with its parameters on
/// the device, which would make `resident_bound` no bound. REQUIRES: a topology.
LowerBound with_loads_bound(const Graph& graph, const CostModel& costs, LowerBound resident_bound,
                            std::span<const Resident> resident = {});

}  // namespace hios::scheduler
