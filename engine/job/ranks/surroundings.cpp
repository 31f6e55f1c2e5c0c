#include "engine/job/ranks/surroundings.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "engine/host/available_memory.h"
#include "engine/host/cores.h"
#include "hios/platform/platform.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"
#include "mpi/shared/shared_transport.h"

namespace hios::job {
namespace {

using Ranks = std::vector<RankSurroundings>;
using Warnings = std::vector<HostWarning>;

/// The ranks of one host together.
struct Host {
  std::size_t ranks = 0;
  int threads = 0;
  std::set<int> cores;  ///< cores that any of them may use
  std::optional<double> quota_cores;
  std::string governor;
  std::optional<int> ptrace_scope;
};

std::map<std::string, Host> hosts_of(const Ranks& ranks) {
  std::map<std::string, Host> hosts;
  for (const RankSurroundings& rank : ranks) {
    Host& host = hosts[rank.host];
    ++host.ranks;
    host.threads += rank.threads;
    host.cores.insert(rank.facts.cores.begin(), rank.facts.cores.end());
    if (rank.facts.quota_cores) host.quota_cores = rank.facts.quota_cores;
    if (!rank.facts.governor.empty()) host.governor = rank.facts.governor;
    if (rank.facts.ptrace_scope) host.ptrace_scope = rank.facts.ptrace_scope;
  }
  return hosts;
}

std::string want_text(const std::string& name, const Host& host) {
  return name + ": its " + std::to_string(host.ranks) +
         (host.ranks == 1 ? " rank wants " : " ranks want ") + std::to_string(host.threads) +
         (host.threads == 1 ? " core" : " cores");
}

void check_cores(const std::string& name, const Host& host, Warnings& found) {
  const auto wanted = static_cast<std::size_t>(host.threads);
  if (!host.cores.empty() && wanted > host.cores.size()) {
    found.push_back({want_text(name, host) + " and may use " + std::to_string(host.cores.size()) +
                         ": nothing is pinned, and predictions do not hold",
                     need::UnsharedCores{}});
  }
  if (host.quota_cores && host.threads > *host.quota_cores) {
    char quota[32];
    std::snprintf(quota, sizeof quota, "%g", *host.quota_cores);
    found.push_back({want_text(name, host) + ", and control groups grant the time of " + quota +
                         ": the system will stop the ranks repeatedly",
                     need::CoreQuota{}});
  }
}

void check_governor(const std::string& name, const Host& host, Warnings& found) {
  if (host.governor.empty() || host.governor == "performance") return;
  found.push_back({name + ": the frequency governor is " + printable(host.governor) +
                       ": cores slow down while they wait, and times vary",
                   need::PerformanceGovernor{}});
}

/// Returns the library of a path: "Open MPI 4.1.4" of "Open MPI 4.1.4, shared memory with CMA".
std::string library_of(const std::string& path) { return path.substr(0, path.find(',')); }

void check_copies(const Ranks& ranks, const std::map<std::string, Host>& hosts, Warnings& found) {
  const bool several = std::any_of(hosts.begin(), hosts.end(),
                                   [](const auto& host) { return host.second.ranks > 1; });
  const std::string& path = ranks.front().path;
  if (!several || path.find("without CMA") == std::string::npos) return;
  if (path.find(mpi::kThroughSharedMemory) != std::string::npos) return;
  int scope = 0;
  for (const auto& [name, host] : hosts) {
    if (host.ptrace_scope.value_or(0) > 0) scope = *host.ptrace_scope;
  }
  found.push_back(
      {"messages between the ranks of a host are copied twice, which takes 4 to 6 times "
       "as long (no CMA)",
       need::SingleCopy{library_of(ranks.front().path), scope}});
}

void check_device_messages(const Ranks& ranks, Warnings& found) {
  const auto on_gpu = std::count_if(ranks.begin(), ranks.end(),
                                    [](const auto& rank) { return rank.kind == kGpuKind; });
  const bool all_can = std::all_of(ranks.begin(), ranks.end(),
                                   [](const auto& rank) { return rank.device_messages; });
  if (on_gpu < 1 || ranks.size() < 2 || all_can) return;
  found.push_back(
      {"this MPI is not CUDA-aware: tensors of GPUs that no other route joins go through "
       "host memory",
       need::CudaAwareMpi{}});
}

void check_visible_devices(const Ranks& ranks, Warnings& found) {
  std::set<std::string> hosts;
  for (const RankSurroundings& rank : ranks) {
    if (rank.sees_other_devices || !hosts.insert(rank.host).second) continue;
    found.push_back({rank.host +
                         ": each rank sees its own GPU only, so CUDA IPC cannot join them, and "
                         "tensors take a slower route; let the batch system give GPUs to hosts, "
                         "not to tasks",
                     {}});
  }
}

void check_likeness(const Ranks& ranks, Warnings& found) {
  const auto compare = [&](const std::string& what, auto value_of) {
    std::vector<std::optional<std::string>> values;
    for (const RankSurroundings& rank : ranks) values.push_back(value_of(rank));
    // A rank without such a value differs from none.
    std::optional<std::string> any;
    for (const auto& value : values) {
      if (!value->empty()) any = value;
    }
    for (auto& value : values) {
      if (value->empty()) value = any;
    }
    const std::string groups = mpi::groups_text(values);
    if (!groups.empty())
      found.push_back({what + " differ: " + printable(groups, 400), need::AlikeHosts{}});
  };
  compare("processors", [](const auto& rank) { return rank.facts.processor; });
  compare("kernels", [](const auto& rank) { return rank.facts.kernel; });
  compare("MPI libraries", [](const auto& rank) { return library_of(rank.path); });
  std::set<std::string> backends;
  for (const RankSurroundings& rank : ranks) backends.insert(rank.backend);
  for (const std::string& backend : backends) {
    compare("libraries of the " + backend + " backend", [&](const auto& rank) {
      return rank.backend == backend ? rank.description->value("library", "") : std::string();
    });
  }
}

}  // namespace

Ranks gather_surroundings(mpi::Transport& transport, const RankBackend& mine) {
  RankSurroundings rank;
  rank.facts = read_host_facts(allowed_cores());
  rank.host = transport.host();
  rank.backend = mine.backend->name();
  rank.kind = mine.backend->kind();
  rank.threads = rank.kind == kGpuKind ? 1 : mine.backend->threads();
  rank.pinned = mine.cores;
  rank.description = mine.backend->describe();
  rank.memory = rank.kind == kGpuKind ? mine.backend->free_memory() : available_memory();
  rank.path = transport.path();
  rank.device_messages = transport.claims_device_memory();
  rank.sees_other_devices = mine.sees_other_devices;
  return mpi::gather(transport, rank);
}

Warnings host_warnings(const Ranks& ranks) {
  Warnings found;
  const auto hosts = hosts_of(ranks);
  for (const auto& [name, host] : hosts) {
    check_cores(name, host, found);
    check_governor(name, host, found);
  }
  check_copies(ranks, hosts, found);
  check_device_messages(ranks, found);
  check_visible_devices(ranks, found);
  check_likeness(ranks, found);
  return found;
}

std::vector<Surrounding> as_surrounding(const Ranks& ranks, const Surrounding& program) {
  std::vector<Surrounding> all;
  for (const RankSurroundings& rank : ranks) {
    all.push_back({.processor = rank.facts.processor,
                   .host = rank.host,
                   .library = rank.description->value("library", ""),
                   .mpi = library_of(rank.path),
                   .version = program.version,
                   .commit = program.commit,
                   .build = program.build});
  }
  return all;
}

}  // namespace hios::job
