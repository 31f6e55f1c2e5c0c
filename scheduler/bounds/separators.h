#pragma once

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/graph/bound_graph.h"

namespace hios::scheduler {

/// Returns the sum of the best bounds between operators that are comparable with all others (proof
/// in separators.cpp), or 0 if there are none.
double separators_ms(const BoundContext& context, BoundGraphs& graphs);

}  // namespace hios::scheduler
