#include "engine/host/control_group.h"

#include <fstream>

namespace hios {

namespace fs = std::filesystem;

// The lines of version 1 name their controllers ("4:cpu,cpuacct:/a/b"), that of version 2 none
// ("0::/a/b").
std::string control_group(const fs::path& root, std::string_view controller) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), last = line.find(':', first + 1);
    if (last == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, last - first - 1) + ",";
    if (controllers.find("," + std::string(controller) + ",") != std::string::npos)
      return line.substr(last + 1);
  }
  return {};
}

std::vector<ControlGroup> control_groups(const fs::path& tree, const fs::path& path) {
  std::vector<ControlGroup> groups = {{tree, "/"}};
  fs::path name = "/";
  for (const fs::path& part : path.relative_path()) {
    name /= part;
    groups.push_back({groups.back().folder / part, name.string()});
  }
  return groups;
}

}  // namespace hios
