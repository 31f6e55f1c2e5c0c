#pragma once

#include <functional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Returns the optimistic cost table of Arabnejad and Barbosa, "List Scheduling Algorithm for
/// Heterogeneous Systems by an Optimistic Cost Table", section 4.1: by operator × device, a time in
/// ms after the operator's end there. It is the longest path after it, where each operator takes
/// the best device for itself and its own entry, and a change of device costs the mean transfer.
/// Infinity where the device cannot run the operator. `toll_ms`, of an operator on a device, counts
/// there like its time; may be empty.
std::vector<double> optimistic_costs(const Graph& graph, const CostModel& costs,
                                     const std::function<double(OpId, DeviceId)>& toll_ms = {});

/// Schedules by PEFT (same paper, section 4.2): of the operators whose producers are placed, the
/// one with the highest mean optimistic cost goes where its end plus its optimistic cost is least,
/// also in a gap. Unlike HEFT it looks ahead: a device that ends an operator first may be wrong for
/// its consumers. One operator a stage; among equals the first in topological order. After the
/// deadline, and where labels and memory exclude all devices: as schedule_heft().
TimedSchedule schedule_peft(const Graph& graph, const CostModel& costs,
                            const Deadline& deadline = {});

}  // namespace hios::scheduler
