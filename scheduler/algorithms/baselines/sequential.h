#pragma once

#include <vector>

#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler {

/// Returns the stages of one device: one operator after the other, in the graph's topological
/// order. Where inputs are divided, the first of them run through as many operators as they can
/// before the next, so that these find their memory, and the caches. The baseline of every
/// speed-up; optimal for one device where stages cost no less than their sum.
std::vector<Stage> sequential(const Graph& graph);

}  // namespace hios::scheduler
