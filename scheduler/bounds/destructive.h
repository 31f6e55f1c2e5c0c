#pragma once

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/heads.h"

namespace hios::scheduler {

/// Returns a bound above `known_ms` by refuting latencies (R. Klein and A. Scholl; proof in
/// destructive.cpp), or 0 if none is found. Graphs above 700 operators are not tried.
double destructive_ms(const BoundGraph& graph, const TimeWindows& windows,
                      const BoundContext& context, double known_ms);

}  // namespace hios::scheduler
