#pragma once

#include <string>
#include <vector>

#include "engine/cold/planned_loads.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::test {

/// Plays the plans of all ranks in a random order of all that may happen next, and returns what is
/// wrong by the schedule: a load before its turn in its lane or before its source holds the
/// parameters, a stage without its parameters, an eviction of what is still read, a message that
/// only one side plans, a load that is planned twice, and ranks that wait for each other. Tensors
/// arrive when their stages have ended.
std::vector<std::string> play_loads(const Graph& graph, const Schedule& schedule,
                                    const std::vector<PlannedLoads>& plans, Random& random);

}  // namespace hios::test
