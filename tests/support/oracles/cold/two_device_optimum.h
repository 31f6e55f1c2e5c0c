#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::test {

/// Returns the shortest cold start of a tiny graph on two devices in which operators are stages of
/// their own, one lane loads over each bus, and each set is loaded once, and copied to the other
/// device where it is needed: by all devices, orders, reads in place and orders of loads.
/// `one_bus`: both devices' routes from store 0 share a bus.
double least_two_device_ms(const Graph& graph, const CostModel& costs, bool one_bus);

}  // namespace hios::test
