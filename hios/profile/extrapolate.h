#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "hios/platform/platform.h"
#include "hios/profile/profile.h"

/// Planning for more or fewer devices than were measured: what was measured with one number of
/// ranks stands in for another. An assumption, not a measurement: ranks that run at the same time
/// share memory and clocks, and other pairs of devices may be further apart. Whoever plans so has
/// to say it.
namespace hios {

/// The number of ranks whose measurements can stand in for those of the platform's devices: of
/// devices like them, all alike, with transfers where the platform has two devices or more; the
/// nearest to the platform's number, the larger of two as near. Nothing where there is none, or
/// where the devices themselves were measured or differ from each other.
std::optional<std::size_t> other_ranks(const Profile& profile, const Platform& platform);

/// The profile with one more configuration, for the platform: operators and stages as measured with
/// `ranks` ranks; a transfer between any two devices takes, at every size, the median of the pairs
/// that were measured. REQUIRES: other_ranks() gave `ranks`. Throws InputError for more than
/// kMostExtrapolatedRanks devices.
Profile extrapolated(const Profile& profile, const Platform& platform, std::size_t ranks);

/// That assumption in words: "costs were measured with 2 ranks and stand in for those of 4: …".
std::string extrapolated_text(std::size_t measured_ranks, std::size_t devices);

/// Every ordered pair gets its points: beyond this, that is no plan but a study.
inline constexpr std::size_t kMostExtrapolatedRanks = 64;

}  // namespace hios
