#pragma once

#include <cstddef>
#include <vector>

#include "hios/platform/platform.h"

namespace hios {

struct DirectedLink {
  DeviceId from, to;
  Link link;
};

/// The largest number of devices: finding all paths takes up to devices⁴ steps.
inline constexpr std::size_t kMostRoutedDevices = 256;

/// Returns a tensor's path for each ordered pair of devices that links connect, as one link, by
/// `from`, then `to`. Of the paths whose narrowest link is widest, it is the one with the least
/// latency. Its bandwidth is that of the narrowest link; latencies add up (Zhang et al., "MOIRAI:
/// Towards Optimal Placement for Distributed Inference on Heterogeneous Devices", section III-C;
/// latencies are ours). A pair's own link is one of its paths, and not always the widest. Throws
/// InputError for more than kMostRoutedDevices.
std::vector<DirectedLink> widest_paths(std::size_t devices, std::vector<DirectedLink> links);

}  // namespace hios
