#pragma once

#include <functional>

#include "hios/cost_model.h"
#include "hios/graph.h"
#include "hios/schedule.h"

namespace hios::scheduler {

struct MappingRecordingResult {
  Schedule schedule;
  bool out_of_time = false;  ///< the rest was placed by plain list scheduling
};

/// Alg. 3 of paper 001 without its last line. One operator a stage.
MappingRecordingResult record_mappings(const Graph& graph, const CostModel& costs,
                                       const std::function<bool()>& out_of_time = {});

}  // namespace hios::scheduler
