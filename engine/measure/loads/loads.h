#pragma once

#include <span>
#include <string>

#include "engine/cold/kept_parameters.h"
#include "engine/measure/measured.h"
#include "engine/measure/profiler_context.h"
#include "engine/run/plan/plan.h"

/// The measurements for cold starts: Profiler::measure_loads (loads.cpp) and measure_in_place
/// (in_place.cpp).
namespace hios {

/// Returns true if either of them measures for this configuration; `disk`: the loads of a disk are
/// wanted, too.
bool lacks_cold_start(const Graph& graph, const Configuration& into, bool disk);

/// Returns the plan by which a rank runs the whole network alone, one operator a stage, each of
/// which reads its parameters in place.
RankPlan plan_in_place(const CoarseGraph& coarse, Rank rank);

/// `options`: as LoadRun's; a file of parameters is that of a disk, which is measured, too.
Measured measure_loads(const ProfilerContext& context, std::span<Configuration* const> into,
                       const LoadOptions& options);
Measured measure_in_place(const ProfilerContext& context, std::span<Configuration* const> into);

}  // namespace hios
