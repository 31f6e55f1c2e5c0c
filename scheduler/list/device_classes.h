#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler {

/// Returns classes of devices that take equally long for every operator, the fastest class first.
/// Classes are sorted by the mean, over operators, of the time there divided by the least time on
/// any device; an operator that a class cannot run counts as ten times the least. Each class is in
/// the platform's order. O(V·M·log M).
std::vector<std::vector<DeviceId>> device_classes(const Graph& graph, const CostModel& costs);

/// Returns the fastest class alone, the two fastest, and so on without the last: device subsets
/// that a search tries so that slow devices do no harm. At most `most`, spread evenly; none if all
/// devices are of one class.
std::vector<std::vector<DeviceId>> fastest_devices(const Graph& graph, const CostModel& costs,
                                                   std::size_t most);

}  // namespace hios::scheduler
