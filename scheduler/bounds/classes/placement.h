#pragma once

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/heads.h"

namespace hios::scheduler {

/// Returns a bound above `known_ms` by the fractional placement of operators on classes of devices,
/// limited by work, memory and paths (proof in placement.cpp), or 0 if none is found. Devices of
/// one class alone are not tried.
double placement_ms(const BoundGraph& graph, const TimeWindows& windows,
                    const BoundContext& context, double known_ms);

}  // namespace hios::scheduler
