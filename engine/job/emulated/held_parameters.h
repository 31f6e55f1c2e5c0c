#pragma once

#include <vector>

#include "hios/evaluate/timeline.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::job {

/// Returns by device the most bytes of parameters that it holds at once in a simulated run: those
/// of a load from its start on, up to their eviction, and shared ones once. Parameters that are
/// read in place are not held. REQUIRES: `simulated` is the schedule's.
std::vector<Bytes> most_held_parameters(const Graph& graph, const Schedule& schedule,
                                        const Timeline& simulated);

}  // namespace hios::job
