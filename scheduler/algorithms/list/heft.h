#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

struct HeftOptions {
  /// Also ranks by each operator's least time, where the paper takes the mean alone; the shorter of
  /// the two schedules counts. Where all devices are alike there is only one.
  bool least_ranks = true;
};

/// HEFT of Topcuoglu, Hariri and Wu, "Performance-Effective and Low-Complexity Task Scheduling for
/// Heterogeneous Computing", section 4.1: operators by descending upward rank, each where it ends
/// first, also in a gap between others. One operator a stage; equal ranks in topological order.
/// Once out of time, the rest goes by list_schedule(). Throws InputError where no placement is
/// found that keeps labels and memory.
TimedSchedule schedule_heft(const Graph& graph, const CostModel& costs, const HeftOptions& options,
                            const Deadline& deadline = {});

}  // namespace hios::scheduler
