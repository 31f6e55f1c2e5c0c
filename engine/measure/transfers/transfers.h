#pragma once

#include <span>

#include "engine/measure/measured.h"
#include "engine/measure/profiler_context.h"

namespace hios {

/// Does the work of Profiler::measure_transfers.
Measured measure_transfers(const ProfilerContext& context, std::span<Configuration* const> into,
                           Bytes largest, std::span<const std::size_t> sharers);

}  // namespace hios
