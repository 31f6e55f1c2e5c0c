#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

struct HeftOptions {
  /// Also ranks by each operator's least time, in addition to the paper's mean; the shorter
  /// schedule counts. The two are equal where all devices are alike.
  bool least_ranks = true;
};

/// Schedules by HEFT of Topcuoglu, Hariri and Wu, "Performance-Effective and Low-Complexity Task
/// Scheduling for Heterogeneous Computing", section 4.1: operators by descending upward rank, each
/// on the device where it ends first, also in a gap. One operator a stage; equal ranks in
/// topological order. After the deadline, list_schedule() places the rest. Throws InputError where
/// no placement respects labels and memory.
TimedSchedule schedule_heft(const Graph& graph, const CostModel& costs, const HeftOptions& options,
                            const Deadline& deadline = {});

}  // namespace hios::scheduler
