#pragma once

#include <string_view>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

/// Preconditions that algorithms check before they start, because no valid schedule could be
/// promised without them.
namespace hios::scheduler {

/// Throws InputError with algorithm and operator if no device can run and hold an operator together
/// with all others of its label. For algorithms that place operators on several devices and honour
/// their limits. Whether all operators fit at once is known only when they are placed.
void require_placeable(const Graph& graph, const CostModel& costs, std::string_view algorithm);

/// Returns the device with the least sum of operator times, of those that can run and hold all
/// operators, the first among equals. For algorithms of one device. If there is none, throws
/// InputError with the algorithm and, for the first device, the operator that it cannot run or
/// hold.
DeviceId single_device(const Graph& graph, const CostModel& costs, std::string_view algorithm);

}  // namespace hios::scheduler
