#include "cli/gpu_rule.h"

#include <algorithm>

#include "mpi/exchange.h"

namespace hios::cli {

std::vector<DeviceIdentity> gather_identities(mpi::Transport& transport, const Backend& backend) {
  return mpi::gather(transport, DeviceIdentity::of(backend.describe()));
}

std::string refusal_of_gpus(const std::vector<DeviceIdentity>& gpus, const Platform& devices,
                            const std::string& schedule_file) {
  const auto place = [&](std::size_t r) {
    return schedule_file + ": $.devices[" + std::to_string(r) + "]: ";
  };
  const auto named = [&](std::size_t r) -> const DeviceIdentity& {
    return devices.device(DeviceId(r)).identity;
  };
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    if (gpus[r].matches(named(r))) continue;
    return place(r) + "made for " + named(r).text() + ", and rank " + std::to_string(r) + " has " +
           (gpus[r].empty() ? "no GPU" : gpus[r].text()) +
           ": run it where that GPU is, or profile and schedule again here";
  }
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    if (gpus[r].empty() || !named(r).empty()) continue;
    for (std::size_t other = 0; other < gpus.size(); ++other) {
      if (gpus[other].empty() || gpus[other] == gpus[r]) continue;
      return place(r) + "rank " + std::to_string(r) + " has " + gpus[r].text() + " and rank " +
             std::to_string(other) + " has " + gpus[other].text() +
             ", and the schedule does not say so: start the job where GPUs and libraries are "
             "alike, or schedule for a --platform whose devices name theirs as \"gpu\"";
    }
  }
  return {};
}

bool same_gpus(const std::vector<DeviceIdentity>& gpus) {
  DeviceIdentity first;
  for (const DeviceIdentity& gpu : gpus) {
    if (gpu.empty()) continue;
    if (!first.empty() && gpu != first) return false;
    first = gpu;
  }
  return true;
}

}  // namespace hios::cli
