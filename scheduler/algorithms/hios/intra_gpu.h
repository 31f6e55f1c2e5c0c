#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Runs Alg. 2 of Kundu and Shu, HIOS, parallelize(): slides a window of up to `window` consecutive
/// operators along each device and merges them into one stage, each operator a group, if the
/// latency falls. The paper gives no value for its w, which is `window`; the schedulers' default is
/// 4. Never worse than `schedule`. A device's `streams` limits the groups of a stage;
/// with one stream nothing merges.
///
/// REQUIRES: `schedule` is valid and has one operator a stage.
TimedSchedule parallelize(const Graph& graph, const CostModel& costs, const Schedule& schedule,
                          std::size_t window, const Deadline& deadline = {});

}  // namespace hios::scheduler
