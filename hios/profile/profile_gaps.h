#pragma once

#include <set>
#include <string>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"

/// What a profile lacks for a platform, in words: each refusal ends with the command that measures
/// it (`remedy`).
namespace hios {

/// "gpu, 0 threads, 2 ranks, fp16, NVIDIA H200, CUDA 13.0".
std::string describe(const Configuration& configuration);

/// The `hios-profile` command that measures a device of the platform into the profile's file.
/// `model_flags` name the model and its size.
std::string measure_command(const Platform& platform, const Device& device,
                            const std::string& model_flags, const std::string& profile_file);

/// The configuration that prices the device; it lives in the profile. Throws InputError that lists
/// those there are, where it is none of them.
const Configuration& configuration_of(DeviceId id, const Platform& platform, const Profile& profile,
                                      const std::string& remedy);

/// Throws InputError that names the first few. REQUIRES: some are missing.
[[noreturn]] void refuse_signatures(const std::set<std::string>& missing, const Graph& graph,
                                    const Profile& profile, const Configuration& configuration,
                                    const std::string& remedy);

}  // namespace hios
