#pragma once

#include <functional>
#include <string_view>

#include "hios/evaluate/cost_model.h"

namespace hios::scheduler {

/// Calls `plan` for each device that can run and hold all operators. One of which `plan` throws an
/// InputError is left out. Throws InputError where no device is left, and where the platform has no
/// routes; `algorithm` is its name.
void for_each_single_device(std::string_view algorithm, const CostModel& costs,
                            const std::function<void(DeviceId)>& plan);

}  // namespace hios::scheduler
