#pragma once

#include <string>
#include <vector>

#include "hios/base/json/json_io.h"

namespace hios::cuda {

/// Returns readings of the driver's management library: driver, current and maximum clocks in MHz,
/// temperature, power, and the reasons for throttling ("power_cap", …; empty: none). The library is
/// opened at the call and need not exist: then returns {"unavailable": reason}. `library`: its
/// name.
Json nvml_readings(const std::string& bus_id, const std::string& library = "libnvidia-ml.so.1");

/// Returns the names of NVML's bit set of clock event reasons.
std::vector<std::string> throttle_reasons(unsigned long long bits);

}  // namespace hios::cuda
