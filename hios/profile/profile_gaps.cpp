#include "hios/profile/profile_gaps.h"

#include <algorithm>
#include <sstream>

#include "hios/base/error.h"

namespace hios {
namespace {

/// "a, b, c and 12 more".
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

/// The backend that measures such a device: on cores only the reference backend has more than fp32.
std::string backend_for(const Device& device) {
  if (device.kind == "gpu") return "cuda";
  return device.kind == "cpu" && device.precision != Precision::kFp32 ? "reference" : device.kind;
}

}  // namespace

std::string describe(const Configuration& configuration) {
  std::ostringstream text;
  text << configuration.kind << ", " << configuration.threads << " threads, " << configuration.ranks
       << " ranks";
  if (configuration.precision != Precision::kFp32)
    text << ", " << to_string(configuration.precision);
  if (const std::string gpu = configuration.gpu(); !gpu.empty()) text << ", " << gpu;
  for (std::size_t i = 0; i < configuration.devices.size(); ++i) {
    text << (i == 0 ? ", among " : " + ") << configuration.devices[i];
  }
  return text.str();
}

const Configuration& configuration_of(DeviceId id, const Platform& platform, const Profile& profile,
                                      const std::string& remedy) {
  if (const Configuration* found = profile.find(platform, id)) return *found;
  const Device& device = platform.device(id);
  Configuration wanted;
  wanted.kind = device.kind;
  wanted.threads = device.threads;
  wanted.precision = device.precision;
  wanted.ranks = platform.size();
  if (!device.gpu.empty()) wanted.machine["backend"]["gpu"] = device.gpu;
  std::string known;
  for (const Configuration& configuration : profile.configurations) {
    known += (known.empty() ? "" : "; ") + describe(configuration);
  }
  throw InputError(profile.file + ": $.configurations: the profile has no configuration for " +
                   device.name + " (" + describe(wanted) +
                   "), only: " + (known.empty() ? "none" : known) + "; measure it with: " + remedy);
}

void refuse_signatures(const std::set<std::string>& missing, const Graph& graph,
                       const Profile& profile, const Configuration& configuration,
                       const std::string& remedy) {
  throw InputError(profile.file + ": the profile (" + describe(configuration) + ") lacks " +
                   std::to_string(missing.size()) + " operator signatures of " + graph.name() +
                   ": " + first_few(missing) + "; measure them with: " + remedy);
}

std::string measure_command(const Platform& platform, const Device& device,
                            const std::string& model_flags, const std::string& profile_file) {
  std::string text =
      "mpirun -np " + std::to_string(platform.size()) + " hios-profile " + model_flags;
  if (!platform.alike()) {
    std::string backends;
    for (const Device& each : platform.devices()) {
      backends += (backends.empty() ? "" : ",") + backend_for(each);
    }
    text += " --backend " + backends;
  } else if (backend_for(device) != device.kind) {
    text += " --backend " + backend_for(device);
  }
  int threads = device.threads;
  if (!platform.alike()) {
    for (const Device& each : platform.devices()) threads = std::max(threads, each.threads);
  }
  if (threads > 0) text += " --threads " + std::to_string(threads);
  if (device.precision != Precision::kFp32) {
    text += " --math " + std::string(to_string(device.precision));
  }
  return text + " --output " + profile_file + " --update";
}

}  // namespace hios
