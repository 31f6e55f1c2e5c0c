#pragma once

#include <string>
#include <vector>

#include "hios/base/json/json_io.h"

namespace hios::cuda {

/// What the driver's management library says of a GPU: driver, clocks in MHz now and at most,
/// temperature, power, and why the clocks are held back ("power_cap", …; empty: nothing does). The
/// library is opened here, when it is asked for, and need not exist: then {"unavailable": why}.
Json nvml_readings(const std::string& bus_id);

/// The words for NVML's bit set of clock event reasons.
std::vector<std::string> throttle_reasons(unsigned long long bits);

}  // namespace hios::cuda
