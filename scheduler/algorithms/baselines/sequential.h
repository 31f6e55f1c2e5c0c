#pragma once

#include <vector>

#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler {

/// One operator after the other, in the graph's topological order: the stages of one device, the
/// baseline of every speed-up. Optimal for one device where stages cost no less than their sum.
std::vector<Stage> sequential(const Graph& graph);

}  // namespace hios::scheduler
