#pragma once

#include <optional>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

/// An independent implementation of cold starts and shared buses, written apart from
/// hios/evaluate/cold/: small steps and linear searches.
namespace hios::test {

/// Returns the timeline by the rules of hios/evaluate/cold/simulate_flows.h; nothing where some
/// stage or load never starts. REQUIRES: a platform with a topology.
std::optional<Timeline> slow_cold_timeline(const Graph& graph, const Schedule& schedule,
                                           const CostModel& costs);

}  // namespace hios::test
