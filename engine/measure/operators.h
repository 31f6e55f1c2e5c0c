#pragma once

#include <span>
#include <vector>

#include "engine/measure/measured.h"
#include "engine/measure/profiler_context.h"
#include "engine/run/plan/plan.h"

namespace hios {

/// Returns true if measure_operators() runs the network for this configuration, on every rank
/// alone, at least once.
bool lacks_operators(const Graph& graph, const Configuration& into);

/// Returns the plan by which a rank runs the whole network alone, one operator a stage.
RankPlan plan_of_all(const CoarseGraph& coarse, Rank rank);

/// Returns the plans by which a rank measures the network: plan_of_all(), or, where operators were
/// cut, one for the first shard of each with the operators that were not cut, one for the second
/// shards, and so on. So a shard finds its weights as cold as on a device of its own. The
/// rows that another plan's shards write stay zero: a plan is run for its times.
std::vector<RankPlan> plans_of_shards(const CoarseGraph& coarse, const Model& model, Rank rank);

/// Does the work of Profiler::measure_operators.
Measured measure_operators(const ProfilerContext& context, std::span<Configuration* const> into);

}  // namespace hios
