#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Schedules greedily: operators in breadth_first_order(), each appended to the device where
/// the latency of all scheduled operators is least (Ghannane and Abdelfattah, "DiviML: A
/// Module-based Heuristic for Mapping Neural Networks onto Heterogeneous Platforms", section V-A).
/// Among equals, the device where the operator ends first, then the lowest. One operator a stage.
/// After the deadline, and where labels and memory exclude all devices: as schedule_heft().
TimedSchedule schedule_greedily(const Graph& graph, const CostModel& costs,
                                const Deadline& deadline = {});

}  // namespace hios::scheduler
