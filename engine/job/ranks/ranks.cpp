#include "engine/job/ranks/ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/discovery/gpu_links.h"
#include "engine/host/cores.h"
#include "engine/host/surroundings.h"
#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/platform/platform.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

namespace hios::job {

namespace {

/// A rank's number on its host, and the devices there.
struct HostRank {
  DeviceWish wish;
  std::size_t local_rank = 0;
  std::vector<std::vector<int>> near = {};  ///< cores, by visible device; empty: all are alike
  static auto fields(auto& self) { return std::tie(self.wish, self.local_rank, self.near); }
};

/// Returns the allowed cores of the NUMA node of a device; none where all cores are alike.
std::vector<int> near_cores(const std::string& address, const std::filesystem::path& root) {
  const auto node = numa_node_of(discovery::short_pci_address(address), root);
  if (!node) return {};
  const std::vector<int> allowed = allowed_cores();
  std::vector<int> cores = cores_of_numa_node(*node, root);
  std::erase_if(cores, [&](int core) { return std::ranges::count(allowed, core) == 0; });
  return cores.size() == allowed.size() ? std::vector<int>() : cores;
}

HostRank host_rank(const mpi::Transport& transport, const BackendEntry& backend,
                   const std::filesystem::path& root) {
  HostRank mine{{transport.host(), backend.kind == kGpuKind}, transport.local_rank()};
  if (backend.visible_devices) mine.wish.visible = backend.visible_devices();
  if (backend.device_addresses) {
    for (const std::string& address : backend.device_addresses()) {
      mine.near.push_back(near_cores(address, root));
    }
  }
  return mine;
}

/// Returns the cores that the ranks of this host want, by local rank. `indices`: of their devices.
std::vector<CoreWish> core_wishes(const mpi::Transport& transport,
                                  const std::vector<HostRank>& host_ranks,
                                  const std::vector<RankDevice>& devices,
                                  const std::vector<int>& indices) {
  std::vector<CoreWish> wishes(transport.local_size());
  for (std::size_t r = 0; r < host_ranks.size(); ++r) {
    const HostRank& rank = host_ranks[r];
    if (rank.wish.host != transport.host()) continue;
    CoreWish& wish = wishes[rank.local_rank];
    wish.count = devices[r].cores;
    const auto index = static_cast<std::size_t>(indices[r]);
    if (rank.wish.wants_device && index < rank.near.size()) wish.near = rank.near[index];
  }
  return wishes;
}

}  // namespace

std::vector<const BackendEntry*> backends_of_ranks(const RankOptions& options, std::size_t ranks) {
  std::vector<const BackendEntry*> found;
  for (const std::string& name : options.backends)
    found.push_back(&find_backend(name, options.table));
  if (found.size() == 1) found.resize(ranks, found.front());
  if (found.size() == ranks) return found;
  throw InputError(
      std::to_string(found.size()) + " backends are named for " + std::to_string(ranks) + " ranks",
      need::BackendPerRank{});
}

void require_precision(const BackendEntry& backend, Precision precision,
                       std::span<const BackendEntry> table) {
  if (backend.has(precision)) return;
  std::vector<std::string> has, others;
  std::string text;
  for (const Precision one : backend.precisions) {
    has.emplace_back(to_string(one));
    text += (text.empty() ? "" : ", ") + has.back();
  }
  for (const BackendEntry& other : table) {
    const bool capped = !other.instructions.empty();  // its uncapped row is in the table, too
    if (other.make && other.has(precision) && !capped) others.emplace_back(other.name);
  }
  throw InputError("the " + std::string(backend.name) + " backend computes in " + text +
                       ", not in " + std::string(to_string(precision)),
                   need::ChosenPrecision{has, others});
}

bool sees_only_its_own(const std::vector<DeviceWish>& ranks, std::size_t rank) {
  std::set<std::string> seen;
  std::size_t neighbours = 0;
  for (const DeviceWish& other : ranks) {
    if (!other.wants_device || other.host != ranks[rank].host) continue;
    if (other.visible.empty()) return false;
    for (const std::string& identity : other.visible) {
      if (!seen.insert(identity).second) return false;
    }
    ++neighbours;
  }
  return ranks[rank].wants_device && neighbours > 1;
}

std::vector<int> device_indices(const std::vector<DeviceWish>& ranks, std::size_t per_host) {
  std::map<std::string, std::size_t> taken;
  std::vector<int> indices(ranks.size(), 0);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (!ranks[r].wants_device || (per_host == 0 && sees_only_its_own(ranks, r))) continue;
    const std::size_t turn = taken[ranks[r].host]++;
    indices[r] = static_cast<int>(per_host == 0 ? turn : turn % per_host);
  }
  return indices;
}

RankBackend make_rank_backend(mpi::Transport& transport, const RankOptions& options,
                              const std::vector<RankDevice>& devices) {
  // The limit holds for shared cores, too: with thousands of threads the OpenMP library crashes.
  constexpr std::size_t kMostThreadsACore = 64;
  const std::size_t self = transport.rank().index();
  const RankDevice& mine = devices[self];
  const HostRank here =
      mpi::agreed(transport, [&] { return host_rank(transport, *mine.backend, options.root); });
  const std::vector<HostRank> host_ranks = mpi::gather(transport, here);
  std::vector<DeviceWish> wishes;
  for (const HostRank& rank : host_ranks) wishes.push_back(rank.wish);
  return mpi::agreed(transport, [&] {
    const std::size_t most = kMostThreadsACore * allowed_cores().size();
    if (options.share_cores && mine.cores > static_cast<int>(most)) {
      throw InputError("a rank of " + std::to_string(mine.cores) + " threads on " +
                       std::to_string(allowed_cores().size()) + " cores; " + std::to_string(most) +
                       " are the most");
    }
    RankBackend rank_backend;
    rank_backend.sees_other_devices = !sees_only_its_own(wishes, self);
    const std::vector<int> indices = device_indices(wishes, options.devices_per_host);
    const std::size_t here_index = transport.local_rank();
    const auto core_wishes_here = core_wishes(transport, host_ranks, devices, indices);
    const auto assigned = assign_cores(allowed_cores(), core_wishes_here, options.share_cores);
    rank_backend.cores = assigned[here_index];
    allow_cores(cores_near_device(allowed_cores(), core_wishes_here, assigned, here_index));
    BackendOptions asked;
    asked.threads = mine.cores;
    asked.cores = rank_backend.cores;
    asked.environment = options.environment;
    asked.precision = mine.precision;
    asked.instructions = mine.backend->instructions;
    asked.device_index = indices[self];
    asked.graphs = options.recordings;
    asked.deterministic = options.deterministic;
    asked.without_algorithms = options.without_algorithms;
    rank_backend.backend = mine.backend->make(asked);
    return rank_backend;
  });
}

}  // namespace hios::job
