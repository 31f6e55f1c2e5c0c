#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/algorithms/hios/stage_list.h"
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

/// Merges neighbours on a device, two stages of one operator each, where that takes less of the
/// device's time and makes the schedule no longer. Returns all stages, those merged by the deadline
/// included. A device of one stream has no pairs. REQUIRES: one operator a group; no stage has more
/// groups than its device has streams.
StageList pair_in_slack(const Graph& graph, const CostModel& costs, const StageList& list,
                        const Deadline& deadline = {});

}  // namespace hios::scheduler
