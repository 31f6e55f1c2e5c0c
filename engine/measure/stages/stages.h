#pragma once

#include <cstddef>
#include <vector>

#include "engine/measure/measured.h"
#include "engine/measure/profiler_context.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// Does the work of Profiler::measure_stages.
Measured measure_stages(const ProfilerContext& context, const std::vector<Stage>& stages,
                        Configuration& into, double time_limit_s, std::size_t team);

}  // namespace hios
