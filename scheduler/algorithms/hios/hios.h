#pragma once

#include <cstddef>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Improves a schedule by rounds of passes (StagePasses), each followed by pair_in_slack(). Returns
/// the shortest schedule by simulate(), `start` among equals; timed_out if that one was or the
/// deadline expired. REQUIRES: `start` is valid.
TimedSchedule improve_by_passes(const Graph& graph, const CostModel& costs, TimedSchedule start,
                                std::size_t rounds, const Deadline& deadline = {});

}  // namespace hios::scheduler
