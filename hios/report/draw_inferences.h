#pragma once

#include <cstddef>
#include <vector>

#include "hios/graph/graph.h"
#include "hios/report/trace.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// A stage of one of many inferences in flight, in ms from the start of their run on its rank.
struct InferenceStage {
  std::size_t rank = 0;  ///< rank in the job; copies of a schedule follow each other
  std::size_t inference = 0;
  std::size_t stage = 0;                            ///< index among its device's stages
  double awaited_ms = 0, start_ms = 0, end_ms = 0;  ///< see StageTimes
};

/// Draws stages into a trace: a process "in flight", a lane for each rank, a slice for each stage
/// ("12: conv_7 + conv_8") and each wait before one.
void draw_inferences(const Graph& graph, const Schedule& schedule,
                     const std::vector<InferenceStage>& stages, Trace& trace);

}  // namespace hios
