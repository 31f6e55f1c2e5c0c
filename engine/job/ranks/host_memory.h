#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/host/available_memory.h"
#include "engine/run/plan/host_need.h"
#include "mpi/transport.h"

/// The memory of hosts, which their ranks share: compared with what a job will hold before anything
/// is allocated, since a system that runs out of memory kills some program of its choice. Functions
/// with a transport are collective.
namespace hios::job {

/// A rank's host, need and accounts.
struct RankMemory {
  std::string host;
  HostNeed need;
  AvailableMemory available;
  static auto fields(auto& self) { return std::tie(self.host, self.need, self.available); }
};

/// Throws InputError where an account of memory has less left than the ranks
/// that it is charged for need together, or a process's own limit less than its rank needs. The
/// error names the host, both sizes, the account and the largest tensors. Of several accounts, the
/// one with the largest shortage counts. `network`: its name. `ranks`: by rank.
void require_host_memory(const std::string& network, const std::vector<RankMemory>& ranks,
                         bool many_inferences);

/// Gathers the ranks and throws likewise, the same on all of them.
void agree_on_host_memory(mpi::Transport& transport, const std::string& network,
                          const HostNeed& mine, const AvailableMemory& available,
                          bool many_inferences);

/// Returns the memory that a rank can take if all ranks of its accounts take the same; empty where
/// there is no limit.
std::optional<Bytes> share_of_memory(const std::vector<RankMemory>& ranks, Rank rank);

/// Gathers the ranks and returns this rank's. No rank returns before all have read their accounts.
std::optional<Bytes> share_of_memory(mpi::Transport& transport, const AvailableMemory& available);

}  // namespace hios::job
