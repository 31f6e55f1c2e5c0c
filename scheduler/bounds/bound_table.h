#pragma once

#include <vector>

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/bounds/classes/placement.h"
#include "scheduler/bounds/colocation.h"
#include "scheduler/bounds/critical_path.h"
#include "scheduler/bounds/destructive.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/heads.h"
#include "scheduler/bounds/intervals.h"
#include "scheduler/bounds/lagrangian.h"
#include "scheduler/bounds/modules/modules.h"
#include "scheduler/bounds/separators.h"

/// The table of bounds that all_bounds() lists, in ms; each has its proof in the file of its name.
namespace hios::scheduler {

/// Returns the bounds that need time windows, and computes the windows: critical_path, intervals,
/// together.
std::vector<LowerBound> timed_bounds(const BoundGraph& graph, const BoundContext& context);

}  // namespace hios::scheduler
