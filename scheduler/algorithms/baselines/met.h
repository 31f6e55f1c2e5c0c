#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Schedules by MET, minimum execution time: each operator goes to its fastest device, whatever its
/// load (Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for Mapping Neural Networks
/// onto Heterogeneous Platforms", section V-A). Each device runs in breadth_first_order(), one
/// operator a stage. Respects labels and memory as fastest_mapping() does, and throws as that.
TimedSchedule schedule_met(const Graph& graph, const CostModel& costs,
                           const Deadline& deadline = {});

}  // namespace hios::scheduler
