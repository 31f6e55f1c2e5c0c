#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Returns true if the mean transfer takes at least twice the time of the mean operator, so that a
/// schedule with several devices needs parts that exchange little.
bool transfers_are_expensive(const Graph& graph, const CostModel& costs);

/// Partitions the graph into strips, consecutive operators of an order (strip_orders.h), which form
/// no cycle. Each goes to one device as a whole, or as far as times by device, `allowed`, labels
/// and memory permit; then operators are started in the order of the longest paths from them. Tries
/// several numbers of strips, up to two a device, and moves the borders of the shortest schedules.
/// One operator a stage. Returns the shortest schedule of those tried until the deadline, at least
/// one. Throws InputError with one device, and where an operator is left without a device.
TimedSchedule schedule_strips(const Graph& graph, const CostModel& costs,
                              const Deadline& deadline = {});

}  // namespace hios::scheduler
