#pragma once

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/heads.h"

namespace hios::scheduler {

/// Returns a bound by operators that share a device because their transfers are too expensive
/// (proof in colocation.cpp). Files call it "together". Returns 0 once the context is stopped.
double colocation_ms(const BoundGraph& graph, const TimeWindows& windows,
                     const BoundContext& context);

}  // namespace hios::scheduler
