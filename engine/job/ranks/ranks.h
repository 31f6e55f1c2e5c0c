#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/backends.h"
#include "hios/base/json/json_io.h"
#include "hios/base/json/owned_json.h"
#include "hios/base/numbers/precision.h"
#include "mpi/transport.h"

/// The backend of each rank of a job, on cores or on a device of its own.
namespace hios::job {

/// The options for the ranks' backends. The same on all ranks.
struct RankOptions {
  /// Names in the table below; one for all ranks, or one a rank. "auto": the first in the build.
  std::vector<std::string> backends = {"auto"};
  /// If the ranks of a host want more cores than there are: true shares cores without pinning;
  /// false is an error.
  bool share_cores = false;
  /// The number of devices that the ranks of a host share in turn; 0: each rank takes its own.
  std::size_t devices_per_host = 0;
  /// Records the stages between transfers, and replays them as one (on a GPU, as CUDA graphs).
  bool recordings = true;
  /// Uses only algorithms that give the same bits each time.
  bool deterministic = true;
  /// Algorithms that are never tried nor run (BackendOptions::without_algorithms).
  std::vector<std::string> without_algorithms = {};
  /// Variables of the program's environment that times depend on: for provenance only.
  OwnedJson environment = {};
  /// The folder of /proc and /sys, where the cores near a device are looked up.
  std::filesystem::path root = "/";
  /// The backends to choose from: those of this build, or a table of the caller's.
  std::span<const BackendEntry> table = hios::backends();
};

/// The backend, cores and arithmetic of one rank.
struct RankDevice {
  const BackendEntry* backend = nullptr;
  int cores = 1;  ///< the number that it computes on; a rank on a GPU needs one for itself
  Precision precision = Precision::kFp32;
};

/// Returns the backend of each rank. Throws InputError for an unknown name, for one that is not in
/// this build, or where there is neither one name nor one for each rank.
std::vector<const BackendEntry*> backends_of_ranks(const RankOptions& options, std::size_t ranks);

/// Throws InputError where the backend does not compute in this precision; it names the backend's
/// precisions, and the backends of the table that have this one.
void require_precision(const BackendEntry& backend, Precision precision,
                       std::span<const BackendEntry> table = hios::backends());

/// A rank's place among the devices of a job.
struct DeviceWish {
  std::string host;
  bool wants_device = false;
  std::vector<std::string> visible = {};  ///< identities of the devices that it sees
  static auto fields(auto& self) { return std::tie(self.host, self.wants_device, self.visible); }
};

/// Returns true if the rank shares its host with others that want a device, and none of these sees
/// a device that another sees: a batch system has given each rank its own.
bool sees_only_its_own(const std::vector<DeviceWish>& ranks, std::size_t rank);

/// Returns the index of each rank's device, among those that it sees. The ranks of a host that want
/// a device take `per_host` devices in turn (0: each its own, or the first that it sees if it sees
/// only its own); ranks that want none have index 0.
std::vector<int> device_indices(const std::vector<DeviceWish>& ranks, std::size_t per_host);

/// This rank's backend on its cores.
struct RankBackend {
  std::unique_ptr<Backend> backend;
  std::vector<int> cores = {};     ///< the operating system's numbers; empty: not pinned
  bool sees_other_devices = true;  ///< false: sees_only_its_own()
};

/// Makes this rank's backend. The threads that feed a device, beginning with this one, and the host
/// memory that they touch first, are then on the device's NUMA node, if the system tells it and the
/// process may use its cores. Throws InputError, the same on all ranks, where cores are too few or
/// a rank's device is not available. Collective. REQUIRES: an entry of `devices` for each rank, the
/// same on all.
RankBackend make_rank_backend(mpi::Transport& transport, const RankOptions& options,
                              const std::vector<RankDevice>& devices);

}  // namespace hios::job
