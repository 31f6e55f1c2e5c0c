#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/host/surroundings.h"
#include "engine/job/ranks/ranks.h"
#include "hios/base/json/owned_json.h"
#include "hios/base/need.h"
#include "hios/profile/elsewhere.h"

/// The hosts of a job, and warnings about facts that spoil its times.
namespace hios::job {

/// A rank's host, cores and backend.
struct RankSurroundings {
  HostFacts facts;
  std::string host;
  std::string backend, kind;
  int threads = 1;
  std::vector<int> pinned;         ///< the cores that it is pinned to; empty: not pinned
  OwnedJson description = {};      ///< Backend::describe()
  std::optional<Bytes> memory;     ///< available on the device, or on the host
  std::string path;                ///< Transport::path()
  bool device_messages = false;    ///< Transport::claims_device_memory()
  bool sees_other_devices = true;  ///< RankBackend

  static auto fields(auto& self) {
    return std::tie(self.facts, self.host, self.backend, self.kind, self.threads, self.pinned,
                    self.description, self.memory, self.path, self.device_messages,
                    self.sees_other_devices);
  }
};

/// Gathers the surroundings of every rank, by rank, on every rank. `transport`: that of the
/// tensors. Collective.
std::vector<RankSurroundings> gather_surroundings(mpi::Transport& transport,
                                                  const RankBackend& mine);

/// A fact that spoils times, in one line, and the remedy.
struct HostWarning {
  std::string text;
  Need need;
};

/// Returns warnings: more threads than cores or than the time that control groups grant, messages
/// that are copied twice, processors that slow down, GPUs whose tensors MPI cannot send or that
/// other ranks do not see, hosts and libraries that differ. None of these makes a result wrong.
std::vector<HostWarning> host_warnings(const std::vector<RankSurroundings>& ranks);

/// Returns the machine of each rank, by rank; version, commit and build are those of `program`.
std::vector<Surrounding> as_surrounding(const std::vector<RankSurroundings>& ranks,
                                        const Surrounding& program);

}  // namespace hios::job
