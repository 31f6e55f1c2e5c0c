#pragma once

#include <vector>

#include "hios/evaluate/timeline.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/cold/search/cold_plan.h"

namespace hios::scheduler::cold {

/// Returns all stages of a schedule by their start, each after those that it waits for. REQUIRES:
/// a valid schedule and its timeline.
std::vector<PlacedStage> ordered_stages(const Graph& graph, const Schedule& schedule,
                                        const Timeline& timeline);

/// The positions between which a stage can move.
struct Window {
  std::size_t first = 0;  ///< after all stages that it waits for
  std::size_t last = 0;   ///< before all stages that wait for it
};

/// Returns the positions to which the stage at `at` can move, itself among them. `position`: by
/// operator, that of its stage. Linear in the stage's edges.
Window window_of(const Graph& graph, const std::vector<PlacedStage>& stages,
                 const std::vector<std::size_t>& position, std::size_t at);

}  // namespace hios::scheduler::cold
