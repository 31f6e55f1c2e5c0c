#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/base/files/descriptor.h"
#include "hios/discovery/machine.h"
#include "hios/discovery/measured_platform.h"
#include "mpi/routes/route.h"
#include "mpi/transport.h"

/// The routes that end at a job's ranks: which there are, and how they are measured.
namespace hios::job {

/// The most seconds that writing the file of a slow disk may take.
inline constexpr double kMostDiskSeconds = 600;

/// A file that has no name any more and is still empty, on the disk that is to be measured.
struct DiskToRead {
  std::vector<std::string> names;  ///< of the disk, from the part to the whole; may be empty
  std::filesystem::path file;      ///< the name that it had, for messages
  Descriptor to_read{-1};          ///< on each rank
  Descriptor to_fill{-1};          ///< on rank 0
  std::string refused;             ///< why the disk is not measured; empty: it is

  bool is_open() const { return to_read.is_open(); }
};

/// Makes the file in this folder and opens it on all ranks. Nothing is left of it once the program
/// ends, however that happens. Collective. Throws InputError, the same on all ranks, where the
/// folder takes no file.
DiskToRead open_disk(mpi::Transport& transport, const std::filesystem::path& folder);

/// One rank of a job that measures routes.
struct MeasuringRank {
  mpi::Transport& transport;
  Backend& backend;
  const mpi::Route* route = nullptr;
  const std::vector<discovery::MemoryNode>& nodes;
  std::optional<std::size_t> disk;  ///< the position of the disk that is read among the machine's
  std::vector<std::optional<DeviceId>> devices = {};  ///< by rank; empty: it is not measured
};

/// Measured routes and the buses that they share. Messages between ranks are measured alone.
struct RankRoutes {
  std::vector<discovery::RouteFigure> figures;
  std::vector<double> together_gb_per_s;  ///< by route; of messages: alone
  std::vector<discovery::SharedBus> shared;
  bool disturbed = false;  ///< some rank's machine did other work meanwhile
};

/// Fills the disk's file and measures all routes. Collective; returns the same on all ranks.
RankRoutes measure_rank_routes(const MeasuringRank& measuring, const DiskToRead& disk);

}  // namespace hios::job
