#pragma once

#include <span>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/weights.h"

namespace hios::test {

/// Returns the shortest cold start of a tiny graph by simulate(), over all devices and orders of
/// operators, each in its own stage; all ways of its parameters: in place, or from each store, also
/// through another device, or from one where they are resident; and all orders of loads in one lane
/// a route, or each in its own lane.
/// For up to three operators on two devices. REQUIRES: a topology, and memory without limits.
double cold_optimum_ms(const Graph& graph, const CostModel& costs,
                       std::span<const Resident> resident = {});

}  // namespace hios::test
