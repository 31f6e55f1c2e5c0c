#include "engine/job/ranks/ranks.h"

#include <map>
#include <set>
#include <tuple>

#include "engine/host/cores.h"
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
  static auto fields(auto& self) { return std::tie(self.wish, self.local_rank); }
};

HostRank host_rank(const mpi::Transport& transport, const BackendEntry& backend) {
  HostRank mine{{transport.host(), backend.kind == kGpuKind}, transport.local_rank()};
  if (backend.visible_devices) mine.wish.visible = backend.visible_devices();
  return mine;
}

/// Returns the cores that the ranks of this host want, by local rank.
std::vector<int> local_cores(const mpi::Transport& transport,
                             const std::vector<HostRank>& host_ranks,
                             const std::vector<RankDevice>& devices) {
  std::vector<int> cores(transport.local_size(), 1);
  for (std::size_t r = 0; r < host_ranks.size(); ++r) {
    if (host_ranks[r].wish.host == transport.host()) {
      cores[host_ranks[r].local_rank] = devices[r].cores;
    }
  }
  return cores;
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
  const HostRank here = mpi::agreed(transport, [&] { return host_rank(transport, *mine.backend); });
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
    rank_backend.cores = assign_cores(allowed_cores(), local_cores(transport, host_ranks, devices),
                                      transport.local_rank(), options.share_cores);
    BackendOptions asked;
    asked.threads = mine.cores;
    asked.cores = rank_backend.cores;
    asked.environment = options.environment;
    asked.precision = mine.precision;
    asked.instructions = mine.backend->instructions;
    asked.device_index = device_indices(wishes, options.devices_per_host)[self];
    asked.graphs = options.recordings;
    asked.deterministic = options.deterministic;
    asked.without_algorithms = options.without_algorithms;
    rank_backend.backend = mine.backend->make(asked);
    return rank_backend;
  });
}

}  // namespace hios::job
