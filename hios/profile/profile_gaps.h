#pragma once

#include <set>
#include <string>

#include "hios/base/need.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"

/// What a profile lacks for a platform: each refusal says what, and that it needs a measurement.
namespace hios {

/// "gpu, 0 threads, 2 ranks, fp16, NVIDIA H200, CUDA 13.0".
std::string describe(const Configuration& configuration);

/// Returns the need of one device's times, in the profile's file.
need::Measurement measurement_of(DeviceId device, const Platform& platform,
                                 const std::string& profile_file, const Graph& graph);

/// The configuration that prices the device; it lives in the profile. Throws InputError that lists
/// those there are, where it is none of them.
const Configuration& configuration_of(DeviceId id, const Platform& platform, const Profile& profile,
                                      const Graph& graph);

/// Whether each of the graph's operators has a time beside its usual one: that on ranks which run
/// but their part of the network (Configuration::warm).
bool has_warm_times(const Graph& graph, const Configuration& configuration);

/// Throws InputError that names the first few. REQUIRES: some are missing.
[[noreturn]] void refuse_signatures(const std::set<std::string>& missing, const Graph& graph,
                                    const Profile& profile, const Configuration& configuration,
                                    Need need);

}  // namespace hios
