#include "hios/profile/profile_gaps.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "hios/base/error.h"

namespace hios {
namespace {

/// Returns "a, b, c and 12 more".
std::string first_few(const std::set<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown == kShown) return text + " and " + std::to_string(names.size() - kShown) + " more";
    text += (shown++ ? ", " : "") + name;
  }
  return text;
}

}  // namespace

std::string describe(const Configuration& configuration) {
  std::ostringstream text;
  text << configuration.kind << ", " << configuration.threads << " threads, " << configuration.ranks
       << " ranks";
  if (configuration.precision != Precision::kFp32)
    text << ", " << to_string(configuration.precision);
  if (const DeviceIdentity identity = configuration.identity(); !identity.empty()) {
    text << ", " << identity.text();
  }
  for (std::size_t i = 0; i < configuration.devices.size(); ++i) {
    text << (i == 0 ? ", among " : " + ") << configuration.devices[i];
  }
  return text.str();
}

need::Measurement measurement_of(DeviceId device, const Platform& platform,
                                 const std::string& profile_file, const Graph& graph) {
  need::Measurement measurement{graph.name(), profile_file, {}, device.index(), platform.alike()};
  for (const Device& each : platform.devices())
    measurement.devices.push_back(
        {each.kind, each.threads, std::string(to_string(each.precision))});
  return measurement;
}

const Configuration& configuration_of(DeviceId id, const Platform& platform, const Profile& profile,
                                      const Graph& graph) {
  if (const Configuration* found = profile.find(platform, id)) return *found;
  const Device& device = platform.device(id);
  Configuration wanted;
  wanted.kind = device.kind;
  wanted.threads = device.threads;
  wanted.precision = device.precision;
  wanted.ranks = platform.size();
  if (!device.identity.empty()) wanted.machine["backend"]["gpu"] = device.identity;
  std::string known;
  for (const Configuration& configuration : profile.configurations) {
    known += (known.empty() ? "" : "; ") + describe(configuration);
  }
  throw InputError(profile.file + ": $.configurations: the profile has no configuration for " +
                       device.name + " (" + describe(wanted) +
                       "), only: " + (known.empty() ? "none" : known),
                   measurement_of(id, platform, profile.file, graph));
}

bool has_warm_times(const Graph& graph, const Configuration& configuration) {
  return std::ranges::all_of(graph.operators(), [&](const Operator& op) {
    return configuration.warm.contains(op.signature);
  });
}

void refuse_signatures(const std::set<std::string>& missing, const Graph& graph,
                       const Profile& profile, const Configuration& configuration, Need need) {
  throw InputError(profile.file + ": the profile (" + describe(configuration) + ") lacks " +
                       std::to_string(missing.size()) + " operator signatures of " + graph.name() +
                       ": " + first_few(missing),
                   std::move(need));
}

}  // namespace hios
