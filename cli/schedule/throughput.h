#pragma once

#include <optional>

#include "cli/schedule/schedule_inputs.h"
#include "cli/schedule/schedule_runs.h"
#include "scheduler/bounds/bounds.h"

/// Schedules under --objective throughput.
namespace hios::cli {

/// --objective. Throws InputError: neither word; or what throughput does not know yet, inputs that
/// are divided and links that carry one tensor at a time.
Objective read_objective(const Flags& flags, const ScheduleInputs& inputs);

/// Puts the period into the prediction, and its bound beside it where the blocks form no ring: that
/// of latencies does not count then. `proven`: what the algorithm knows of periods; 0: nothing.
void predict_throughput(Prediction& predicted, const Graph& graph, const Schedule& schedule,
                        const CostModel& costs, const ScheduleInputs& inputs,
                        const scheduler::LowerBound& proven = {});

/// What to compare with: each device that can run and hold the network runs whole inferences, one
/// operator after the other; no schedule says that, so the row has none. Nothing where no device
/// can.
std::optional<ScheduleRun> copies_of_the_network(ScheduleInputs& inputs);

}  // namespace hios::cli
