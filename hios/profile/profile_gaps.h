#pragma once

#include <set>
#include <string>

#include "hios/base/need.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"

/// Measurements that a profile lacks for a platform. Each error lists them, with a need for them.
namespace hios {

/// Returns a description: "gpu, 0 threads, 2 ranks, fp16, NVIDIA H200, CUDA 13.0".
std::string describe(const Configuration& configuration);

/// Returns the need of one device's times, in the profile's file.
need::Measurement measurement_of(DeviceId device, const Platform& platform,
                                 const std::string& profile_file, const Graph& graph);

/// Returns the configuration with the device's costs; it lives in the profile. Throws an InputError
/// that lists the configurations where none is the device's.
const Configuration& configuration_of(DeviceId id, const Platform& platform, const Profile& profile,
                                      const Graph& graph);

/// Returns true if each of the graph's operators also has a time on ranks that run only their block
/// of the network (Configuration::warm).
bool has_warm_times(const Graph& graph, const Configuration& configuration);

/// Throws an InputError that names the first few. REQUIRES: some are missing.
[[noreturn]] void refuse_signatures(const std::set<std::string>& missing, const Graph& graph,
                                    const Profile& profile, const Configuration& configuration,
                                    Need need);

}  // namespace hios
