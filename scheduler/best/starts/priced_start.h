#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::best {

/// List scheduling in which a device's memory has a price, so that the operators that gain least
/// there leave it to others. Prices are found in some passes over the graph: those of devices that
/// are full too early rise. Returns the shortest schedule of all passes until the deadline. Throws
/// InputError where each device can hold all operators, where a pass would take too long, and where
/// labels and memory leave an operator no device in each pass.
Schedule schedule_by_prices(const Graph& graph, const CostModel& costs, const Deadline& deadline);

}  // namespace hios::scheduler::best
