#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler {

/// Devices that take equally long for every operator, the fastest class first: by the mean, over
/// operators, of their time there over the least time on any device; an operator that a class
/// cannot run counts as ten times the least. Each class in the platform's order. O(V·M·log M).
std::vector<std::vector<DeviceId>> device_classes(const Graph& graph, const CostModel& costs);

/// The fastest class alone, the two fastest, and so on without the last: what a slow device beside
/// fast ones must not make worse. At most `most`, spread evenly; none where all devices are of one
/// class.
std::vector<std::vector<DeviceId>> fastest_devices(const Graph& graph, const CostModel& costs,
                                                   std::size_t most);

}  // namespace hios::scheduler
