#pragma once

#include <vector>

#include "hios/evaluate/cold/validate_weights.h"
#include "hios/evaluate/cold/weight_waits.h"

namespace hios {

/// Finds loads that may wait for room forever, for validate_weights(): kMemory where a device has
/// none for its residents, or a load only after a stage that waits for it; kCycle where loads wait
/// for each other's stages. REQUIRES: `waits` has no cycle; evictions take effect after the loads
/// that they undo.
std::vector<Finding> find_lack_of_room(const Graph& graph, const Platform& platform,
                                       const Schedule& schedule, const Assignment& assignment,
                                       const Holdings& holdings, const WeightWaits& waits);

}  // namespace hios
