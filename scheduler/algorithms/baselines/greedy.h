#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Greedy: operators in breadth_first_order(), each behind what is on its device, where the latency
/// of all that is scheduled so far is least (Ghannane and Abdelfattah, "DiviML: A Module-based
/// Heuristic for Mapping Neural Networks onto Heterogeneous Platforms", section V-A); of devices
/// that leave it the same, where the operator ends first, the lowest of those. One operator a
/// stage. Out of time, and where labels and memory leave no device: as schedule_heft().
TimedSchedule schedule_greedily(const Graph& graph, const CostModel& costs,
                                const Deadline& deadline = {});

}  // namespace hios::scheduler
