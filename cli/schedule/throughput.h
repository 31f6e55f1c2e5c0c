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

/// What no blocks, one a device, have less than as their period.
scheduler::LowerBound period_bound(ScheduleInputs& inputs);

/// Puts the period into the run's prediction, and beside it a bound where the blocks form no ring:
/// else there is none, since the bound is of such blocks alone. A schedule that was made for its
/// latency keeps that as its objective.
void predict_throughput(ScheduleRun& run, ScheduleInputs& inputs);

/// What to compare with: each device that can run and hold the network runs whole inferences, one
/// operator after the other; no schedule says that, so the row has none. Nothing where no device
/// can.
std::optional<ScheduleRun> copies_of_the_network(ScheduleInputs& inputs);

}  // namespace hios::cli
