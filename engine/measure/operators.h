#pragma once

#include <span>

#include "engine/measure/measured.h"
#include "engine/measure/profiler_context.h"
#include "engine/run/plan.h"

namespace hios {

/// Returns true if measure_operators() runs the network for this configuration, on every rank
/// alone, at least once.
bool lacks_operators(const Graph& graph, const Configuration& into);

/// Returns the plan by which a rank runs the whole network alone, one operator a stage.
RankPlan plan_of_all(const CoarseGraph& coarse, Rank rank);

/// Does the work of Profiler::measure_operators.
Measured measure_operators(const ProfilerContext& context, std::span<Configuration* const> into);

}  // namespace hios
