#pragma once

#include <span>

#include "engine/measure/measured.h"
#include "engine/measure/profiler_context.h"
#include "engine/measure/transfers/charge_effort.h"

namespace hios {

/// Does the work of Profiler::measure_charges.
Measured measure_charges(const ProfilerContext& context, std::span<Configuration* const> into,
                         ChargeEffort effort);

}  // namespace hios
