#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// The choice of line 22 among the histories of the last row.
enum class LastRow {
  kLeastLatency,  ///< least latency, then the earliest finish of the last operator
  kPaper,         ///< argmin of t(n, j): the earliest finish of the last operator
};

/// Runs Alg. 3 of Kundu and Shu, HIOS, without line 27, which is parallelize(). One operator a
/// stage. After the deadline, list_schedule() places the rest.
///
/// Line 22 differs by default (LastRow): the history of least latency is taken, where the paper
/// takes the one in which the last operator v_n finishes first, whatever ends after it.
///
/// Honours times by device, `allowed`, `colocate` and memory: an operator is tried after a history
/// only on devices that can take it there. If no history has such a device, pack_operators() places
/// all operators; it throws InputError where it finds no placement.
TimedSchedule record_mappings(const Graph& graph, const CostModel& costs,
                              const Deadline& deadline = {},
                              LastRow last_row = LastRow::kLeastLatency);

}  // namespace hios::scheduler
