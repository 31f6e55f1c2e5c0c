#pragma once

#include <string>
#include <vector>

#include "hios/discovery/machine_platform.h"
#include "hios/discovery/shared_buses.h"

/// A described platform with the routes that were measured.
namespace hios::discovery {

/// A measured route, by its ends.
struct RouteFigure {
  Holder from;
  DeviceId to;
  double latency_ms = 0;
  double gb_per_s = 0;  ///< alone
};

/// Returns the platform in which these routes have the measured values and go over the measured
/// buses alone, whose routes are positions in `figures`. A bus is named by the store or device that
/// all of its routes begin or end at ("dram-out", "gpu0-in"), or shared-N. Other routes stay as
/// they were described; buses without routes are left out. REQUIRES: the platform has these routes.
Described with_measurements(const Described& reported, const std::vector<RouteFigure>& figures,
                            const std::vector<SharedBus>& shared);

}  // namespace hios::discovery
