#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/base/files/descriptor.h"
#include "hios/base/files/direct_file.h"
#include "hios/discovery/machine.h"
#include "hios/discovery/measured_platform.h"
#include "mpi/routes/route.h"
#include "mpi/transport.h"

/// The routes that end at a job's ranks: which there are, and how they are measured.
namespace hios::job {

/// The most seconds that writing the file of a slow disk may take.
inline constexpr double kMostDiskSeconds = 600;

/// A file that has no name any more and one page, on the disk that is to be measured.
struct DiskToRead {
  std::vector<std::string> names;  ///< of the disk, from the part to the whole; may be empty
  std::filesystem::path file;      ///< the name that it had, for messages
  std::shared_ptr<const DirectFile> to_read;  ///< on each rank; null: the disk is not measured
  Descriptor to_fill{-1};                     ///< on rank 0
  std::string refused;                        ///< why the disk is not measured; empty: it is

  bool is_open() const { return to_read != nullptr; }
};

/// Makes the file in this folder, opens it on all ranks and removes its name, so that nothing is
/// left of it once the program ends; a program that is killed before leaves a file of one page.
/// Collective. Throws InputError, the same on all ranks, where the folder takes no file.
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
  bool disturbed = false;  ///< some rank's machine did other work while loads were measured
  std::vector<std::string> warnings = {};  ///< loads and pairs that were not measured, and why
};

/// Fills the disk's file and measures all routes. Loads from memory that the system refuses, and
/// from a disk whose reads go through the page cache, are left out. Collective; returns the same on
/// all ranks. Throws InputError, the same on all ranks, where there is too little memory.
RankRoutes measure_rank_routes(const MeasuringRank& measuring, const DiskToRead& disk);

}  // namespace hios::job
