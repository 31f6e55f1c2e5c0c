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

/// Returns the platform in which these routes have the measured values. Loads go over the measured
/// buses, whose routes are positions in `figures`. A measured bus is named by the store or device
/// that all of its routes begin or end at ("dram-out", "gpu0-in"), or shared-N. Messages, which are
/// measured alone, keep their described buses, but for those that are slower than the message was.
/// A described bus that a message or an unmeasured route uses stays one of the loads, too, and is
/// as fast as those are over it at once. Other routes stay as they were described; buses without
/// routes are left out. REQUIRES: the platform has these routes; rates above 0.
Described with_measurements(const Described& reported, const std::vector<RouteFigure>& figures,
                            const std::vector<SharedBus>& shared);

}  // namespace hios::discovery
