#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "hios/platform/platform.h"
#include "hios/profile/profile.h"

/// Planning for more or fewer devices than were measured: costs measured with one number of ranks
/// are used for another. This is an assumption, not a measurement: ranks that run at the same time
/// share memory and clocks, and other pairs of devices may be further apart. Programs that plan so
/// must report it.
namespace hios {

/// Returns the number of ranks whose measurements can be used for the platform's devices: of
/// devices like them, all alike, with transfers where the platform has two devices or more. It is
/// the nearest to the platform's number, the larger of two equally near. Empty where there is none,
/// or where the devices themselves were measured or differ from each other.
std::optional<std::size_t> other_ranks(const Profile& profile, const Platform& platform);

/// Returns the profile with one more configuration, for the platform: operators and stages as
/// measured with `ranks` ranks, and for every transfer the median of the measured pairs at each
/// size. REQUIRES: other_ranks() returned `ranks`. Throws InputError for more than
/// kMostExtrapolatedRanks devices.
Profile extrapolated(const Profile& profile, const Platform& platform, std::size_t ranks);

/// Returns a description of the assumption: "costs were measured with 2 ranks and stand in for
/// those of 4: …".
std::string extrapolated_text(std::size_t measured_ranks, std::size_t devices);

/// The largest number of devices, since every ordered pair gets its points.
inline constexpr std::size_t kMostExtrapolatedRanks = 64;

}  // namespace hios
