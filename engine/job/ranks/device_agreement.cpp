#include "engine/job/ranks/device_agreement.h"

#include <nlohmann/json.hpp>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/platform/device_identity.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

namespace hios::job {

DeviceSharers gather_sharers(mpi::Transport& transport, Backend& backend) {
  mpi::Accelerator* const device = backend.accelerator();
  const auto identities = mpi::gather(transport, device ? device->identity() : std::string());
  DeviceSharers ranks;
  for (std::size_t r = 0; r < identities.size(); ++r) {
    if (!identities[r].empty()) ranks[identities[r]].push_back(r);
  }
  return ranks;
}

std::string listed(const std::vector<std::size_t>& ranks) {
  std::string text;
  for (const std::size_t rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

std::vector<DeviceIdentity> gather_identities(mpi::Transport& transport, const Backend& backend) {
  return mpi::gather(transport, DeviceIdentity::of(backend.describe()));
}

void require_identities(const std::vector<DeviceIdentity>& gpus, const Platform& devices,
                        const std::string& schedule_name) {
  const auto device_of = [&](std::size_t r) {
    return schedule_name + ": $.devices[" + std::to_string(r % devices.size()) + "]: ";
  };
  const auto named = [&](std::size_t r) -> const DeviceIdentity& {
    return devices.device(DeviceId(r % devices.size())).identity;
  };
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    if (gpus[r].matches(named(r))) continue;
    throw InputError(device_of(r) + "made for " + named(r).text() + ", and rank " +
                         std::to_string(r) + " has " +
                         (gpus[r].empty() ? "no GPU" : gpus[r].text()),
                     need::SameGpu{});
  }
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    if (gpus[r].empty() || !named(r).empty()) continue;
    for (std::size_t other = 0; other < gpus.size(); ++other) {
      if (gpus[other].empty() || gpus[other] == gpus[r]) continue;
      throw InputError(device_of(r) + "rank " + std::to_string(r) + " has " + gpus[r].text() +
                           " and rank " + std::to_string(other) + " has " + gpus[other].text() +
                           ", and the schedule does not say so",
                       need::IdentifiedDevices{});
    }
  }
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

void require_one_library(mpi::Transport& transport, const Backend& backend) {
  const Json description = backend.describe();
  const bool named = !DeviceIdentity::of(description).empty();
  const auto names = mpi::gather(transport, std::string(backend.name()));
  const auto libraries =
      mpi::gather(transport, named ? std::string() : description.value("library", std::string()));
  for (std::size_t r = 0; r < names.size(); ++r) {
    for (std::size_t other = r + 1; other < names.size(); ++other) {
      if (names[r] != names[other] || libraries[r].empty() || libraries[other].empty()) continue;
      if (libraries[r] == libraries[other]) continue;
      throw InputError("rank " + std::to_string(r) + " computes with " + libraries[r] +
                           " and rank " + std::to_string(other) + " with " + libraries[other],
                       need::AlikeHosts{});
    }
  }
}

void agree_on_memory(mpi::Transport& transport, Backend& backend, const Network& network,
                     const RankPlan& plan) {
  const DeviceSharers sharers = gather_sharers(transport, backend);
  const std::vector<MemoryEstimate> needs =
      mpi::gather(transport, estimate_memory(network.coarse, network.model, plan));
  mpi::agreed(transport, [&] {
    const auto free = backend.free_memory();
    if (!backend.accelerator() || !free) return;
    const auto& ranks = sharers.at(backend.accelerator()->identity());
    MemoryEstimate sum;
    for (const std::size_t rank : ranks) {
      sum.tensors += needs[rank].tensors;
      sum.input += needs[rank].input;
      sum.parameters += needs[rank].parameters;
    }
    require_device_memory(sum, *free, (ranks.size() == 1 ? "rank " : "ranks ") + listed(ranks));
  });
}

std::vector<MemoryEstimate> agree_on_limits(mpi::Transport& transport, const MemoryEstimate& mine,
                                            const Platform& devices,
                                            const std::string& schedule_name) {
  std::vector<MemoryEstimate> ranks = mpi::gather(transport, mine);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::size_t d = r % devices.size();
    const Device& device = devices.device(DeviceId(d));
    const MemoryEstimate& estimate = ranks[r];
    if (device.memory_bytes == 0 || estimate.total() <= device.memory_bytes) continue;
    const auto item = [](Bytes size_bytes, const char* name) {
      return std::to_string(size_bytes) + name;
    };
    throw InputError(
        schedule_name + ": $.devices[" + std::to_string(d) + "].memory_bytes: rank " +
            std::to_string(r) + " would hold " + item(estimate.total(), " bytes (") +
            item(estimate.parameters, " of weights, ") + item(estimate.tensors, " of tensors, ") +
            item(estimate.input, " of the input, ") + item(estimate.scratch, " of scratch), and ") +
            device.name + " has " + std::to_string(device.memory_bytes),
        // Scratch is counted once operators are bound, by chosen algorithms.
        need::DeviceMemory{estimate.scratch > 0});
  }
  return ranks;
}

}  // namespace hios::job
