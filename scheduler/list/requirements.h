#pragma once

#include <string_view>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

/// What algorithms refuse before they start, because they could not promise a valid schedule.
namespace hios::scheduler {

/// For algorithms that place operators on several devices and honour what limits that. Throws
/// InputError that names algorithm and operator where no device can run an operator, with all that
/// share its label, and hold them. Whether all find room together shows only when they are placed.
void require_placeable(const Graph& graph, const CostModel& costs, std::string_view algorithm);

/// For algorithms of one device: of those that can run all operators and hold them the one that
/// takes least for one after the other, the first among equals. Throws InputError that names
/// algorithm and, for the first device, the operator that does not fit.
DeviceId single_device(const Graph& graph, const CostModel& costs, std::string_view algorithm);

}  // namespace hios::scheduler
