#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/job/ranks/ranks.h"
#include "engine/job/ranks/watch.h"
#include "hios/discovery/measured_platform.h"
#include "mpi/routes/route.h"

/// The platform of the machine on which a job's ranks run, or of another one.
namespace hios::job {

/// The options of a platform job. The same on all ranks.
struct PlatformOptions {
  RankOptions ranks = {};
  std::vector<RankDevice> devices;    ///< by rank
  const mpi::Route* route = nullptr;  ///< of messages between devices; null: the best that works
  int threads = 1;                    ///< cores of each rank that computes on cores
  int streams = 1;                    ///< the most groups of operators at once on such a rank
  bool on_cores = false;              ///< ranks are the devices, also where there are GPUs
  std::filesystem::path disk_folder = "";  ///< the folder of the file that is read
};

/// A measured route: its ends, and its rate alone and together with all others; for messages
/// between ranks, which are measured alone, the same.
struct MeasuredRoute {
  std::string from, to;
  double alone_gb_per_s = 0, together_gb_per_s = 0;
};

struct FoundPlatform {
  discovery::Described described;
  std::vector<MeasuredRoute> measured = {};
  std::vector<std::string> adapters = {};    ///< network adapters that the machine has
  std::vector<std::string> other_gpus = {};  ///< GPUs on which no backend computes
  std::vector<std::string> warnings = {};    ///< routes that were not measured, and why
};

/// Returns the platform of a machine from the text of an hwloc XML; nothing is measured. `file`:
/// its name for messages. Throws InputError: no machine, or one without GPUs and with too few
/// cores.
FoundPlatform platform_of_xml(const PlatformOptions& options, const std::string& xml,
                              const std::string& file);

/// Finds what this machine has, and measures the routes to the devices of the ranks: loads from
/// each memory and from the disk of the folder, alone, in pairs and all at once, then messages
/// between ranks. Routes without a rank stay as hwloc and NVML report them. Collective. Throws
/// InputError, the same on all ranks and before anything is measured: ranks on several hosts, a
/// folder that takes no file, more ranks on GPUs than there are.
FoundPlatform find_platform(Watch& watch, const PlatformOptions& options);

}  // namespace hios::job
