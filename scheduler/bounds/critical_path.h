#pragma once

#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/heads.h"

namespace hios::scheduler {

/// Returns the longest path through the graph (proof in critical_path.cpp).
double critical_path_ms(const BoundGraph& graph, const TimeWindows& windows);

}  // namespace hios::scheduler
