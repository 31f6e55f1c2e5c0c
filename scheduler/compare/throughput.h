#pragma once

#include <optional>

#include "hios/schedule/schedule.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/compare/row.h"
#include "scheduler/problem.h"

/// Schedules of many inferences in flight.
namespace hios::scheduler {

/// Sets the period, the inferences in flight and, where the blocks form no cycle, the bound of the
/// period; a bound of the latency does not count then. `proven`: the algorithm's own bound of the
/// period; 0: none. REQUIRES: the schedule is valid for the problem, whose inputs are not divided.
void predict_throughput(Prediction& predicted, const Problem& problem, const Schedule& schedule,
                        const LowerBound& proven = {});

/// Returns the row of data parallelism: each device that can run and hold the network runs whole
/// inferences, one operator after the other. No schedule expresses that, so the row has none.
/// Empty where no device can.
std::optional<Row> copies_of_the_network(const Problem& problem);

}  // namespace hios::scheduler
