#include "engine/host/surroundings.h"

#include <algorithm>
#include <fstream>

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

/// Returns the path of this process's control group below the root of the second version's tree
/// ("0::/a/b") or of the first version's tree for processors ("4:cpu,cpuacct:/a/b").
std::string control_group(const fs::path& root, bool second) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), last = line.find(':', first + 1);
    if (last == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, last - first - 1) + ",";
    const bool fits = second ? controllers == ",," : controllers.find(",cpu,") != std::string::npos;
    if (fits) return line.substr(last + 1);
  }
  return {};
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

/// Returns the smallest quota of a group or one above it. A container may see its own group as the
/// root of the tree, so the root counts, too; missing paths are ignored.
std::optional<double> least_quota(const fs::path& tree, const fs::path& path,
                                  std::optional<double> (*quota_of)(const fs::path&)) {
  std::optional<double> least;
  fs::path group = tree;
  const auto take = [&] {
    const auto quota = quota_of(group);
    if (quota && (!least || *quota < *least)) least = quota;
  };
  take();
  for (const fs::path& part : path.relative_path()) {
    group /= part;
    take();
  }
  return least;
}

std::optional<double> quota_cores(const fs::path& root) {
  const fs::path groups = root / "sys/fs/cgroup";
  const auto second = least_quota(groups, control_group(root, true), quota_of_second);
  return second ? second : least_quota(groups / "cpu", control_group(root, false), quota_of_first);
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

}  // namespace hios
