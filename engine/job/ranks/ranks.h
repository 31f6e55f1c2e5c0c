#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backends.h"
#include "hios/base/json/json_io.h"
#include "hios/base/numbers/precision.h"
#include "mpi/transport.h"

/// What each rank of a job computes with: its backend, on cores or on a device of its own.
namespace hios::job {

/// The same on all ranks.
struct RankOptions {
  /// Names of the table below; one for all ranks, or one a rank. "auto": the first in the build.
  std::vector<std::string> backends = {"auto"};
  /// Where the ranks of a host want more cores than there are: true shares them, and pins nothing;
  /// false refuses.
  bool share_cores = false;
  /// How many devices the ranks of a host share in turn; 0: each rank takes its own.
  std::size_t devices_per_host = 0;
  /// Record what is queued between transfers and replay it as one (on a GPU, as CUDA graphs).
  bool recordings = true;
  /// Only algorithms that give the same bits each time.
  bool deterministic = true;
  /// What the program's environment says that times depend on: for provenance only.
  Json environment = Json::object();
  /// The backends to choose from: those of this build, or a table of one's own.
  std::span<const BackendEntry> table = hios::backends();
};

/// What one rank is to compute with. By rank, the same on all ranks.
struct RankDevice {
  const BackendEntry* backend = nullptr;
  int cores = 1;  ///< how many it computes on; a rank on a GPU needs one for itself
  Precision precision = Precision::kFp32;
};

/// The backend of each rank. Throws InputError: an unknown name, one that is not in this build, or
/// neither one name nor one for each rank.
std::vector<const BackendEntry*> backends_of_ranks(const RankOptions& options, std::size_t ranks);

/// Throws InputError where the backend does not compute in this precision: which it has, and which
/// backends of the table have it.
void require_precision(const BackendEntry& backend, Precision precision,
                       std::span<const BackendEntry> table = hios::backends());

/// Which device of its host each rank takes, by rank: the ranks of a host that want one take them
/// in order, `per_host` of them (0: as many as there are such ranks) before they share; 0 for the
/// others.
std::vector<int> device_indices(const std::vector<std::string>& host_of,
                                const std::vector<bool>& wants_device, std::size_t per_host);

/// This rank's backend on its cores.
struct RankBackend {
  std::unique_ptr<Backend> backend;
  std::vector<int> cores;  ///< as the operating system numbers them; empty: not pinned
};

/// Throws InputError, the same on all ranks, where cores are too few or a rank's device is not to
/// be had. Collective. REQUIRES: an entry of `devices` for each rank, the same on all.
RankBackend make_rank_backend(mpi::Transport& transport, const RankOptions& options,
                              const std::vector<RankDevice>& devices);

}  // namespace hios::job
