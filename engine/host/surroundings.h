#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

/// What this process stands in, as far as times depend on it.
namespace hios {

/// What the system does not say is empty.
struct HostFacts {
  std::string kernel;      ///< its version, "6.1.0-18-amd64"
  std::string processor;   ///< processor_name()
  std::vector<int> cores;  ///< that the process may run on
  /// How many cores' time control groups grant, this process's own group or one above it.
  std::optional<double> quota_cores;
  /// The frequency governor of a core in `cores` that is not at full speed always ("powersave"), or
  /// "performance" where all are.
  std::string governor;
  /// Yama's ptrace_scope: from 1 on processes may not read each other's memory without a right.
  std::optional<int> ptrace_scope;

  static auto fields(auto& self) {
    return std::tie(self.kernel, self.processor, self.cores, self.quota_cores, self.governor,
                    self.ptrace_scope);
  }
};

/// `root`: where /proc and /sys are looked for.
HostFacts read_host_facts(std::vector<int> cores, const std::filesystem::path& root = "/");

}  // namespace hios
