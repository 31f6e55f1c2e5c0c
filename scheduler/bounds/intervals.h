#pragma once

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/heads.h"

namespace hios::scheduler {

/// Returns the largest bound by the work inside an interval, on all devices or on a device subset
/// (Fernandez and Bussell; proof in relaxations/confined.cpp).
double intervals_ms(const BoundGraph& graph, const TimeWindows& windows,
                    const BoundContext& context);

}  // namespace hios::scheduler
