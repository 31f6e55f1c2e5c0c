#pragma once

#include <functional>

#include "hios/cost_model.h"
#include "hios/graph.h"
#include "scheduler/timeline.h"

namespace hios::scheduler {

/// Alg. 3 of paper 001 without its last line. One operator a stage. Once out of time, the
/// rest goes by list_schedule().
TimedSchedule record_mappings(const Graph& graph, const CostModel& costs,
                              const std::function<bool()>& out_of_time = {});

}  // namespace hios::scheduler
