#pragma once

#include <span>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/weights.h"
#include "scheduler/bounds/bounds.h"

namespace hios::scheduler {

/// Returns a latency that no cold start can beat: the larger of `resident_bound`, the bound where
/// all parameters are on the devices, since loads only delay stages, and the bound "loads" (proof
/// in cold_start_bound.cpp). Parameters in `resident` need no load. Throws InputError where an
/// operator takes less in place than with its parameters on the device, which would make
/// `resident_bound` no bound. REQUIRES: a topology.
LowerBound with_loads_bound(const Graph& graph, const CostModel& costs, LowerBound resident_bound,
                            std::span<const Resident> resident = {});

}  // namespace hios::scheduler
