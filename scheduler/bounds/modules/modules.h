#pragma once

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/graph/bound_graph.h"

namespace hios::scheduler {

/// Returns a bound by the placement of whole modules on classes of devices, with memory and time of
/// the classes priced (proof in modules.cpp), where it is above `known_ms`. Otherwise, and where
/// all devices are alike or few operators fork between separators, it returns 0.
double modules_ms(const BoundGraph& graph, const BoundContext& context, double known_ms);

}  // namespace hios::scheduler
