#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "hios/base/ids.h"

/// The memory that can still be allocated, by every account of the system that can refuse it.
namespace hios {

/// The bytes that an account has left.
struct MemoryAccount {
  std::string name;      ///< for messages: "its memory and swap", "the control group /job/step"
  std::uint64_t id = 0;  ///< distinguishes control groups of one name, in different containers
  Bytes left = 0;

  static auto fields(auto& self) { return std::tie(self.name, self.id, self.left); }
};

/// The accounts that an allocation of this process is charged to.
struct AvailableMemory {
  /// The machine's account, and those of control groups that have a limit. Processes share these.
  std::vector<MemoryAccount> shared;
  /// The process's own limits (of address space, `ulimit -v`, and of data, `ulimit -d`).
  std::vector<MemoryAccount> own;
  /// Bytes that the process has allocated and freed, and that the C library holds for it. They are
  /// counted as used, and can be allocated again.
  Bytes held = 0;

  static auto fields(auto& self) { return std::tie(self.shared, self.own, self.held); }
};

/// Reads all accounts. Memory of files that the system can drop counts as left, and so does swap,
/// as far as no control group limits it. An account that the system does not have, or that has no
/// limit, is not listed. `root`: the folder of /proc and /sys.
AvailableMemory read_available_memory(const std::filesystem::path& root = "/");

/// Returns the least that an account of this process has left. Empty where there is no limit.
std::optional<Bytes> available_memory();

}  // namespace hios
