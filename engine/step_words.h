#pragma once

#include <span>
#include <string>

#include "engine/plan.h"
#include "engine/segments.h"
#include "hios/graph.h"

/// Where a rank stands, in words, for watchdogs and errors.
namespace hios {

inline constexpr const char* kBetweenIterations =
    "between two iterations, where ranks wait for each other";

/// "stage 4: conv_7, conv_9", "waiting for conv_3 from rank 1".
std::string describe(const Step& step, const RankPlan& plan, const Graph& graph);

/// "stage 4: conv_7, conv_9" or "stages 4 to 6: conv_7, conv_9 … pool_3": the first and the last.
std::string describe(const Segment& segment, const RankPlan& plan, const Graph& graph);

}  // namespace hios
