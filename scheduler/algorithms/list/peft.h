#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// What follows an operator on each device at least, in ms, operator by operator (operator ×
/// device): the longest path behind it where each operator on it takes the device that is best for
/// it and what comes next, and a change of device costs the mean transfer. The optimistic cost
/// table of Arabnejad and Barbosa, "List Scheduling Algorithm for Heterogeneous Systems by an
/// Optimistic Cost Table", section 4.1. Infinity where the device cannot run the operator.
std::vector<double> optimistic_costs(const Graph& graph, const CostModel& costs);

/// PEFT (the same, section 4.2): of the operators whose inputs are placed, the one with the highest
/// mean optimistic cost goes where its end plus its optimistic cost there is least, also in a gap
/// between others. It looks ahead where HEFT does not: a device that ends an operator first may be
/// the wrong one for what follows. One operator a stage; of equal ones the first in topological
/// order. Out of time, and where labels and memory leave no device: as schedule_heft().
TimedSchedule schedule_peft(const Graph& graph, const CostModel& costs,
                            const Deadline& deadline = {});

}  // namespace hios::scheduler
