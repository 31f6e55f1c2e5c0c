#pragma once

#include <optional>
#include <span>
#include <string>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"

/// What a profile has measured of devices that work on many inferences in flight, where nobody else
/// says it.
namespace hios {

/// What somebody has said of a device already.
struct SaidOfDevice {
  bool io_charge = false;
  bool fast_memory = false;
};

/// Fast memory (Archer, Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for Pipelined
/// DNN Inference", Eq. 2) such that a device that runs a part of the graph no larger than the parts
/// that were measured takes its operators' warm times, and one that runs the whole graph their cold
/// ones; in between it grows by the byte. Nothing where the two differ by less than a hundredth:
/// then weights come from where they come from, spread or not.
std::optional<FastMemory> measured_fast_memory(const Graph& graph,
                                               const Configuration& configuration);

/// The devices with the charges and the fast memory that the profile has for them, where `said`
/// (by device; empty: nothing was said) has none. Devices that may run several groups at a time get
/// no fast memory, because stages of several groups are measured cold.
Platform with_measured(const Graph& graph, const Platform& platform, const Profile& profile,
                       std::span<const SaidOfDevice> said = {});

/// For people: what transfers take of its devices, or that nobody measured it.
std::string charge_text(const Configuration& configuration);
/// And what the graph's operators take in the whole and in parts; empty: nobody measured it.
std::string warmth_text(const Graph& graph, const Configuration& configuration);
/// Both, of each kind of device of a platform and in lines, as far as with_measured() takes them.
std::string measured_devices_text(const Graph& graph, const Platform& platform,
                                  const Profile& profile, std::span<const SaidOfDevice> said = {});

}  // namespace hios
