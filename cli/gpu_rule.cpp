#include "cli/gpu_rule.h"

#include <algorithm>

#include "hios/base/error.h"
#include "hios/platform/device_identity.h"

namespace hios::cli {

std::vector<std::string> gather_gpus(mpi::Transport& transport, const Backend& backend) {
  return transport.all_gather(gpu_text(backend.describe()));
}

std::string refusal_of_gpus(const std::vector<std::string>& gpus, const Platform& devices,
                            const std::string& schedule_file) {
  const auto place = [&](std::size_t r) {
    return schedule_file + ": $.devices[" + std::to_string(r) + "]: ";
  };
  const auto named = [&](std::size_t r) -> const std::string& {
    return devices.device(DeviceId(r)).gpu;
  };
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    if (gpu_meets(named(r), gpus[r])) continue;
    return place(r) + "made for " + named(r) + ", and rank " + std::to_string(r) + " has " +
           (gpus[r].empty() ? "no GPU" : gpus[r]) +
           ": run it where that GPU is, or profile and schedule again here";
  }
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    if (gpus[r].empty() || !named(r).empty()) continue;
    for (std::size_t other = 0; other < gpus.size(); ++other) {
      if (gpus[other].empty() || gpus[other] == gpus[r]) continue;
      return place(r) + "rank " + std::to_string(r) + " has " + gpus[r] + " and rank " +
             std::to_string(other) + " has " + gpus[other] +
             ", and the schedule does not say so: start the job where GPUs and libraries are "
             "alike, or schedule for a --platform whose devices name theirs as \"gpu\"";
    }
  }
  return {};
}

bool same_gpus(const std::vector<std::string>& gpus) {
  std::string first;
  for (const std::string& gpu : gpus) {
    if (gpu.empty()) continue;
    if (!first.empty() && gpu != first) return false;
    first = gpu;
  }
  return true;
}

Platform named_by_profile(const Platform& devices, const Profile& profile) {
  std::vector<std::string> gpus(devices.size());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const Device& device = devices.device(DeviceId(d));
    const Configuration* const found = profile.find(devices, DeviceId(d));
    if (!device.gpu.empty() || !found) continue;
    gpus[d] = found->gpu();
    for (const Configuration& other : profile.configurations) {
      Configuration elsewhere = *found;
      elsewhere.machine = other.machine;
      if (!other.same_device(elsewhere) || other.gpu() == gpus[d]) continue;
      throw InputError(profile.file + ": $.configurations: measured on " + gpus[d] + " and on " +
                       other.gpu() + ", and nobody says which " + device.name +
                       " is: name it as \"gpu\" in a --platform");
    }
  }
  return devices.with_gpus(gpus);
}

}  // namespace hios::cli
