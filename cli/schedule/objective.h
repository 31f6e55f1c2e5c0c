#pragma once

#include "cli/flags/flags.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "hios/schedule/schedule.h"

namespace hios::cli {

/// Reads --objective. Throws InputError: an unknown name; for throughput, inputs that are divided
/// and links that carry one tensor at a time or routes over buses, which it does not support yet;
/// for a cold start, a platform without routes, a graph without parameters, and inputs that are
/// divided.
Objective read_objective(const Flags& flags, const ScheduleInputs& inputs);

}  // namespace hios::cli
