#pragma once

#include <string_view>

#include "hios/cost_model.h"
#include "hios/graph.h"
#include "hios/platform.h"

/// What algorithms refuse before they start, because they could not promise a valid schedule.
namespace hios::scheduler {

/// For algorithms that place operators without regard to `colocate` and memory. Throws InputError
/// that names algorithm and operator: two operators share a label and there are two devices or
/// more, or a device could not hold all operators that may run on it.
void require_free_placement(const Graph& graph, const CostModel& costs, std::string_view algorithm);

/// For algorithms of one device: the first that can run all operators and hold them. Throws
/// InputError that names algorithm and, for the first device, the operator that does not fit.
DeviceId single_device(const Graph& graph, const CostModel& costs, std::string_view algorithm);

}  // namespace hios::scheduler
