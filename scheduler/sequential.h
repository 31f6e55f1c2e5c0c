#pragma once

#include "hios/cost_model.h"
#include "hios/graph.h"
#include "hios/schedule.h"

namespace hios::scheduler {

/// One operator after the other on one device, in the graph's topological order: the baseline of
/// every speed-up. Optimal for one device where stages cost no less than their sum.
Schedule sequential(const Graph& graph, const CostModel& costs, DeviceId device);

}  // namespace hios::scheduler
