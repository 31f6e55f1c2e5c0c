#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Groups operators that should share a device, whatever the number of devices, because transfers
/// between them cost more than a serial order. It is dominant sequence clustering of Yang and
/// Gerasoulis, "DSC: Scheduling Parallel Tasks on an Unbounded Number of Processors", section 4,
/// without its rule for partially free ones. Operators are taken by the longest path
/// through them. Each joins the cluster of one of its producers, after all its operators, if it
/// starts no later there than alone. Times and transfers are the cost model's means. Returns a
/// partition: clusters by their first operators in topological order, each in topological order.
std::vector<std::vector<OpId>> dominant_sequence_clusters(const Graph& graph,
                                                          const CostModel& costs);

/// Maps the clusters to devices in two ways and returns the shorter schedule. Either the largest
/// cluster is mapped first, each to the device that best balances work and transfers to the
/// operators there. Or each goes to the device where its first operator by priority ends first.
/// Operators are then inserted by priority, also into gaps. Where labels or memory exclude the
/// cluster's device, an operator goes where it ends first. One operator a stage. After the
/// deadline, and where no device is left: as schedule_heft().
TimedSchedule schedule_clusters(const Graph& graph, const CostModel& costs,
                                const Deadline& deadline = {});

}  // namespace hios::scheduler
