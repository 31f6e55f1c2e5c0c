#include "engine/host/surroundings.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "engine/host/control_group.h"
#include "engine/host/machine.h"

namespace hios {
namespace {

namespace fs = std::filesystem;

/// Returns the first line of a file; empty where there is none.
std::string line_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::optional<double> quota_of_second(const fs::path& group) {
  std::ifstream stream(group / "cpu.max");
  double quota = 0, period = 0;  // "max 100000": no quota
  if (stream >> quota >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

std::optional<double> quota_of_first(const fs::path& group) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us"), period_file(group / "cpu.cfs_period_us");
  double quota = 0, period = 0;  // −1: no quota
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0)
    return quota / period;
  return std::nullopt;
}

/// Returns the smallest quota of a group or one above it.
std::optional<double> least_quota(const fs::path& tree, const fs::path& path,
                                  std::optional<double> (*quota_of)(const fs::path&)) {
  std::optional<double> least;
  for (const ControlGroup& group : control_groups(tree, path)) {
    const auto quota = quota_of(group.folder);
    if (quota && (!least || *quota < *least)) least = quota;
  }
  return least;
}

std::optional<double> quota_cores(const fs::path& root) {
  const fs::path groups = root / "sys/fs/cgroup";
  const auto second = least_quota(groups, control_group(root, {}), quota_of_second);
  return second ? second : least_quota(groups / "cpu", control_group(root, "cpu"), quota_of_first);
}

std::string governor_of(const std::vector<int>& cores, const fs::path& root) {
  constexpr const char* kBest = "performance";
  std::string found;
  for (const int core : cores) {
    const std::string governor = line_of(
        root / ("sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/scaling_governor"));
    if (!governor.empty() && (found.empty() || governor != kBest)) found = governor;
    if (!found.empty() && found != kBest) break;
  }
  return found;
}

}  // namespace

HostFacts read_host_facts(std::vector<int> cores, const fs::path& root) {
  HostFacts facts;
  facts.kernel = line_of(root / "proc/sys/kernel/osrelease");
  facts.processor = processor_name(root);
  facts.quota_cores = quota_cores(root);
  facts.governor = governor_of(cores, root);
  std::ifstream scope(root / "proc/sys/kernel/yama/ptrace_scope");
  if (int value = 0; scope >> value) facts.ptrace_scope = value;
  facts.cores = std::move(cores);
  return facts;
}

std::optional<int> numa_node_of(const std::string& pci_address, const std::filesystem::path& root) {
  const bool has_domain = std::ranges::count(pci_address, ':') == 2;
  std::ifstream file(root / "sys/bus/pci/devices" / ((has_domain ? "" : "0000:") + pci_address) /
                     "numa_node");
  int node = -1;
  if (!(file >> node) || node < 0) return {};  // -1: the firmware does not know
  return node;
}

std::vector<int> cores_of_numa_node(int node, const std::filesystem::path& root) {
  std::istringstream ranges(
      line_of(root / "sys/devices/system/node" / ("node" + std::to_string(node)) / "cpulist"));
  std::vector<int> cores;
  for (std::string range; std::getline(ranges, range, ',');) {  // "0-3,8"
    int first = 0, last = 0;
    const int found = std::sscanf(range.c_str(), "%d-%d", &first, &last);
    if (found == 1) last = first;
    for (int core = first; found > 0 && core <= last; ++core) cores.push_back(core);
  }
  return cores;
}

}  // namespace hios
