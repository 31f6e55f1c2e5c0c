#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hios/discovery/machine.h"
#include "hios/platform/platform.h"

/// The platform of a machine, from what is known of it without measuring.
namespace hios::discovery {

/// Values of everything that a description does not report. GB/s are 10⁹ bytes a second.
inline constexpr double kMemoryGbPerS = 100;  ///< reading the memory of a NUMA node
inline constexpr double kPackageGbPerS = 40;  ///< from one processor package to another
inline constexpr double kPciGbPerS = 15.75;   ///< a PCIe link: 16 lanes of the third generation
inline constexpr double kNvmeGbPerS = 3;      ///< a disk named nvme…
inline constexpr double kDiskGbPerS = 0.5;    ///< another disk
inline constexpr double kCopyGbPerS = 10;     ///< a copy by the cores of a CPU's rank
inline constexpr double kMemoryLatencyMs = 0.01;
inline constexpr double kDiskLatencyMs = 0.1;

/// A rank that computes on cores, on a machine without GPUs.
struct CpuRank {
  Device device;
  std::size_t node = 0;  ///< the NUMA node of its cores
};

/// Returns a rank's node for each list of cores: that of its first core; node 0 where the list is
/// empty or no node has the core.
std::vector<std::size_t> nodes_of_cores(const Machine& machine,
                                        const std::vector<std::vector<int>>& cores);

/// Returns the cores that `ranks` ranks of so many threads take: consecutive ones, in the order of
/// the operating system's numbers. Throws InputError where the machine has fewer; `file` names it.
std::vector<std::vector<int>> cores_of_ranks(const Machine& machine, const std::string& file,
                                             std::size_t ranks, int threads);

/// A platform, and what had to be assumed for it.
struct Described {
  Platform platform;
  /// The assumptions about each route, by route: "reading the memory of a NUMA node: 100 GB/s".
  std::vector<std::vector<std::string>> assumed;
  /// The same for devices: "memory of gpu0: no limit".
  std::vector<std::string> assumed_of_devices;
};

/// Returns everything that was assumed, each once.
std::vector<std::string> all_assumed(const Described& described);

/// Returns the platform of the machine. Its devices are the GPUs, gpu0 …, or without GPUs `ranks`.
/// Stores: the memory of each NUMA node (dram, or dram0 …), and the disks. Routes lead from every
/// store and every other device to each device, over buses of one direction. Links that the same
/// routes use are one bus, as fast as the slowest of them. Throws InputError: no GPU and no rank.
Described platform_of(const Machine& machine, const std::vector<CpuRank>& ranks);

}  // namespace hios::discovery
