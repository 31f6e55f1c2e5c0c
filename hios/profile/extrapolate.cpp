#include "hios/profile/extrapolate.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/numbers/statistics.h"

namespace hios {
namespace {

/// Returns a platform of `ranks` devices like the platform's first.
Platform as_many(std::size_t ranks, const Platform& platform) {
  std::vector<Device> devices(ranks, platform.device(DeviceId(0)));
  for (std::size_t r = 0; r < ranks; ++r) devices[r].name += "-" + std::to_string(r);
  return Platform(std::move(devices));
}

/// Returns the configuration measured among that many such devices; nullptr where it lacks costs of
/// the platform.
const Configuration* measured_with(std::size_t ranks, const Profile& profile,
                                   const Platform& platform) {
  const Configuration* found = profile.find(as_many(ranks, platform), DeviceId(0));
  const bool transfers_missing =
      platform.size() > 1 && found &&
      std::none_of(found->transfers.begin(), found->transfers.end(),
                   [](const TransferCurve& curve) { return !curve.points.empty(); });
  return transfers_missing ? nullptr : found;
}

std::size_t distance(std::size_t a, std::size_t b) { return a > b ? a - b : b - a; }

/// Returns the median over all pairs at every size that any pair was measured at.
CurvePoints median_points(const std::vector<TransferCurve>& curves,
                          CurvePoints TransferCurve::*kind) {
  std::set<Bytes> sizes;
  for (const TransferCurve& curve : curves) {
    for (const auto& [bytes, ms] : curve.*kind) sizes.insert(bytes);
  }
  CurvePoints points;
  for (const Bytes bytes : sizes) {
    std::vector<double> of_pairs;
    for (const TransferCurve& curve : curves) {
      if (!(curve.*kind).empty()) of_pairs.push_back(curve_ms(curve.*kind, bytes));
    }
    points.emplace_back(bytes, summarize(of_pairs).median);
  }
  return points;
}

}  // namespace

std::optional<std::size_t> other_ranks(const Profile& profile, const Platform& platform) {
  const std::size_t wanted = platform.size();
  if (wanted == 0 || !platform.alike() || profile.find(platform, DeviceId(0))) return std::nullopt;
  std::set<std::size_t> measured;
  for (const Configuration& configuration : profile.configurations) {
    if (configuration.devices.empty()) measured.insert(configuration.ranks);
  }
  std::optional<std::size_t> nearest;
  for (const std::size_t ranks :
       measured) {  // ascending, so that the larger of two equally near is last
    if (!measured_with(ranks, profile, platform)) continue;
    if (!nearest || distance(ranks, wanted) <= distance(*nearest, wanted)) nearest = ranks;
  }
  return nearest;
}

Profile extrapolated(const Profile& profile, const Platform& platform, std::size_t ranks) {
  if (platform.size() > kMostExtrapolatedRanks) {
    throw InputError(profile.file + ": measured with " + std::to_string(ranks) +
                     " ranks, which stand in for " + std::to_string(kMostExtrapolatedRanks) +
                     " devices at most, not for " + std::to_string(platform.size()));
  }
  Configuration configuration = *measured_with(ranks, profile, platform);
  const auto points = median_points(configuration.transfers, &TransferCurve::points);
  // Pairs of different hosts share no memory, and are among those that stand in.
  const bool all_share = std::ranges::none_of(
      configuration.transfers, [](const TransferCurve& curve) { return curve.shared.empty(); });
  const auto shared =
      all_share ? median_points(configuration.transfers, &TransferCurve::shared) : CurvePoints{};
  configuration.ranks = platform.size();
  // All devices together load as fast as the measured ranks did, none faster than alone.
  const double fewer = static_cast<double>(ranks) / static_cast<double>(platform.size());
  for (auto& [kind, loads] : configuration.loads) {
    loads.together_gb_per_s =
        std::min(loads.gb_per_s, std::max(kMinGbPerS, loads.together_gb_per_s * fewer));
  }
  configuration.transfers.clear();
  for (std::size_t from = 0; from < platform.size() && !points.empty(); ++from) {
    for (std::size_t to = 0; to < platform.size(); ++to) {
      if (from != to) configuration.transfers.push_back({from, to, points, shared});
    }
  }
  Profile result = profile;
  result.configurations.push_back(std::move(configuration));
  return result;
}

std::string extrapolated_text(std::size_t measured_ranks, std::size_t devices) {
  return "costs were measured with " + std::to_string(measured_ranks) +
         " ranks and stand in for those of " + std::to_string(devices) +
         ": a transfer between any two devices is the median of the measured pairs";
}

}  // namespace hios
