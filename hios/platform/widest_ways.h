#pragma once

#include <cstddef>
#include <vector>

#include "hios/platform/platform.h"

namespace hios {

struct DirectedLink {
  DeviceId from, to;
  Link link;
};

/// More devices are refused: finding all ways takes up to devices⁴ steps.
inline constexpr std::size_t kMostRoutedDevices = 256;

/// For each ordered pair of devices that links lead between, the way that a tensor takes, as one
/// link: of all ways those whose narrowest link is widest, and of these the one with the least
/// latency. Its bandwidth is that of the narrowest link; latencies add up (Zhang et al., "MOIRAI:
/// Towards Optimal Placement for Distributed Inference on Heterogeneous Devices", section III-C;
/// latencies are ours). A pair's own link is one of its ways, and not always the widest. By `from`,
/// then `to`. Throws InputError for more than kMostRoutedDevices.
std::vector<DirectedLink> widest_ways(std::size_t devices, std::vector<DirectedLink> links);

}  // namespace hios
