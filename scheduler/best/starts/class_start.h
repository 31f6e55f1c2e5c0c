#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::best {

/// List scheduling in which a relaxation decides the class of devices, and the earliest finish the
/// device of the class (bounds/classes/fractional_placement.h). `known_ms` is the latency of
/// some schedule. Throws InputError where devices are of one class, where time is short, and where
/// labels and memory leave an operator no device.
Schedule schedule_by_classes(const Graph& graph, const CostModel& costs, double known_ms,
                             const Deadline& deadline);

}  // namespace hios::scheduler::best
