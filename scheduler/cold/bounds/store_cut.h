#pragma once

#include <cstddef>
#include <span>

#include "hios/base/ids.h"
#include "hios/platform/platform.h"

namespace hios::scheduler {

/// Returns a rate in bytes per ms that all flows from outside these devices into them never exceed
/// together, whatever way parameters take from the stores: the least cut between the stores and
/// these devices. Infinity never; 0 where no way leads there. `sets`: the sets of parameters that
/// there are, which limit the flows of a route. REQUIRES: a topology.
double cut_bytes_per_ms(const Platform& platform, std::span<const DeviceId> into, std::size_t sets);

}  // namespace hios::scheduler
