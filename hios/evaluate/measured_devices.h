#pragma once

#include <optional>
#include <span>
#include <string>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"

/// Properties of devices for many inferences in flight, measured by a profile, where a platform
/// file does not set them.
namespace hios {

/// The properties of a device that a platform file sets.
struct SetByPlatform {
  bool io_charge = false;
  bool fast_memory = false;
};

/// Returns the fast memory (Archer, Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for
/// Pipelined DNN Inference", Eq. 2) by which a block no larger than the measured ones takes its
/// operators' warm times, and the whole graph their cold ones; in between the time is linear in
/// bytes. Empty where the two differ by less than 1 %: then it makes no difference where weights
/// are.
std::optional<FastMemory> measured_fast_memory(const Graph& graph,
                                               const Configuration& configuration);

/// Returns the platform with the profile's charges and fast memory, except for properties in `set`
/// (by device; empty: none is set). Devices that may run several groups at a time get no fast
/// memory, because stages of several groups are measured cold.
Platform with_measured(const Graph& graph, const Platform& platform, const Profile& profile,
                       std::span<const SetByPlatform> set = {});

/// Returns, for people, the share of transfers that occupies devices, or that it was not measured.
std::string charge_text(const Configuration& configuration);
/// Returns, for people, the operators' times in the whole network and in blocks; empty: not
/// measured.
std::string warmth_text(const Graph& graph, const Configuration& configuration);
/// Returns both texts for each kind of device of a platform, in lines, as far as with_measured()
/// uses them.
std::string measured_devices_text(const Graph& graph, const Platform& platform,
                                  const Profile& profile, std::span<const SetByPlatform> set = {});

}  // namespace hios
