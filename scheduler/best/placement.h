#pragma once

#include <optional>
#include <vector>

#include "hios/cost_model.h"

namespace hios::scheduler::best {

/// A device for every operator, by OpId, such that operators with equal `colocate` labels share
/// one, each device can run its operators and holds their outputs and parameters. Balances the
/// devices' time where memory lets it. Throws InputError that names the operator which found no
/// room; whether there is any placement is a bin-packing question, so the search may miss one.
std::vector<std::optional<DeviceId>> place_all(const CostModel& costs);

}  // namespace hios::scheduler::best
