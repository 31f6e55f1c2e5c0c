#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// The control groups of this process.
namespace hios {

struct ControlGroup {
  std::filesystem::path folder;
  std::string name;  ///< its path in the tree: "/job/step"
};

/// Returns the path of this process's group in the tree of a controller of version 1 ("cpu",
/// "memory"), or, with no controller, in the one tree of version 2. Empty: there is none. `root`:
/// the folder of /proc.
std::string control_group(const std::filesystem::path& root, std::string_view controller);

/// Returns the groups from a tree's root down to `path`. A container may see its own group as the
/// root of the tree, so the root counts, too. Their folders may be missing.
std::vector<ControlGroup> control_groups(const std::filesystem::path& tree,
                                         const std::filesystem::path& path);

}  // namespace hios
