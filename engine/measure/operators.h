#pragma once

#include <span>

#include "engine/measure/measured.h"
#include "engine/measure/profiler_context.h"

namespace hios {

/// Does the work of Profiler::measure_operators.
Measured measure_operators(const ProfilerContext& context, std::span<Configuration* const> into);

}  // namespace hios
