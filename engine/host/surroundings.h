#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

/// Facts of the host that times depend on.
namespace hios {

/// The facts of a host. Those that the system does not have are empty.
struct HostFacts {
  std::string kernel;      ///< its version, "6.1.0-18-amd64"
  std::string processor;   ///< processor_name()
  std::vector<int> cores;  ///< cores that the process may run on
  /// The number of cores whose time control groups grant, this process's own group or one above it.
  std::optional<double> quota_cores;
  /// The frequency governor of a core in `cores` that is not always at full speed ("powersave"), or
  /// "performance" if all are.
  std::string governor;
  /// Yama's ptrace_scope: from 1 on processes may not read each other's memory without a right.
  std::optional<int> ptrace_scope;

  static auto fields(auto& self) {
    return std::tie(self.kernel, self.processor, self.cores, self.quota_cores, self.governor,
                    self.ptrace_scope);
  }
};

/// Reads the facts of this host. `root`: the folder of /proc and /sys.
HostFacts read_host_facts(std::vector<int> cores, const std::filesystem::path& root = "/");

/// Returns the NUMA node of a PCI device, by its address ("3b:00.0", "0001:3b:00.0"); empty where
/// the system does not say.
std::optional<int> numa_node_of(const std::string& pci_address,
                                const std::filesystem::path& root = "/");

/// Returns the cores of a NUMA node, ascending; none where the system does not say.
std::vector<int> cores_of_numa_node(int node, const std::filesystem::path& root = "/");

}  // namespace hios
