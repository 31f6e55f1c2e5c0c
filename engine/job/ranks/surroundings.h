#pragma once

#include <string>
#include <vector>

#include "engine/host/surroundings.h"
#include "engine/job/ranks/ranks.h"
#include "hios/base/need.h"

/// What a job stands in, and what of it spoils its times.
namespace hios::job {

/// Where one rank computes, and with what.
struct RankSurroundings {
  HostFacts facts;
  std::string host;
  std::string backend, kind;
  int threads = 1;
  std::vector<int> pinned;            ///< the cores that it takes; empty: not pinned
  Json description = Json::object();  ///< Backend::describe()
  std::optional<Bytes> memory;   ///< that may still be allocated: of the device, or of the host
  std::string path;              ///< Transport::path()
  bool device_messages = false;  ///< Transport::claims_device_memory()

  static auto fields(auto& self) {
    return std::tie(self.facts, self.host, self.backend, self.kind, self.threads, self.pinned,
                    self.description, self.memory, self.path, self.device_messages);
  }
};

/// Of every rank, by rank, on every rank. Collective.
std::vector<RankSurroundings> gather_surroundings(mpi::Transport& transport,
                                                  const RankBackend& mine);

/// One line of what is wrong, and what would help.
struct Trouble {
  std::string text;
  Need need;
};

/// More threads than cores or than the time that control groups grant, messages that are copied
/// twice, processors that slow down, GPUs whose tensors MPI cannot send, hosts and libraries that
/// differ. Nothing of it makes a result wrong.
std::vector<Trouble> troubles_of(const std::vector<RankSurroundings>& ranks);

}  // namespace hios::job
