#pragma once

#include "cli/flags/flags.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "hios/schedule/schedule.h"

namespace hios::cli {

/// Reads --objective. Throws InputError: an unknown name; or, for throughput, inputs that are
/// divided and links that carry one tensor at a time, which it does not support yet.
Objective read_objective(const Flags& flags, const ScheduleInputs& inputs);

}  // namespace hios::cli
