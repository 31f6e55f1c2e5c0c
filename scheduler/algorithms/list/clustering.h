#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Operators that had better run on one device, however many devices there are, because transfers
/// between them cost more than waiting for each other: dominant sequence clustering of Yang and
/// Gerasoulis, "DSC: Scheduling Parallel Tasks on an Unbounded Number of Processors", section 4,
/// without its look at operators whose inputs are not all there. Operators are taken by the longest
/// path through them; each joins the cluster of one of its inputs, behind what is in it, where it
/// starts no later than alone. Times and transfers are the cost model's means. Every operator is in
/// one cluster; clusters come by their first operators in topological order, and so do operators in
/// a cluster.
std::vector<std::vector<OpId>> dominant_sequence_clusters(const Graph& graph,
                                                          const CostModel& costs);

/// Maps those clusters to the devices, in two ways, of which the shorter counts: the largest first,
/// each where work and transfers to what is there already balance best; or each where its first
/// operator, in the order of priorities, ends first. Operators follow by priority, also in gaps
/// between others; those that labels or memory keep from their cluster's device go where they end
/// first. One operator a stage. Out of time, and where no device is left: as schedule_heft().
TimedSchedule schedule_clusters(const Graph& graph, const CostModel& costs,
                                const Deadline& deadline = {});

}  // namespace hios::scheduler
