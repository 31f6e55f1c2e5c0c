// A refusal must be certain, so what is left is never underestimated: all memory of files counts as
// left, although the system keeps some of it, and a group's swap is all that is free.
//
// Control groups of version 2 are one tree. In version 1 the memory controller has a tree of its
// own. A group's limit holds for all groups below it, so every group on the way up counts; a
// container may see its own group as the root. Tests: tests/engine/host/available_memory_test.cpp.
#include "engine/host/available_memory.h"

#include <malloc.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/host/control_group.h"

namespace hios {
namespace {

namespace fs = std::filesystem;

// Version 1 writes the largest number of whole pages where there is no limit.
constexpr Bytes kNoLimit = Bytes{1} << 62;
constexpr Bytes kKilobyte = 1024;

Bytes less(Bytes from, Bytes what) { return from - std::min(from, what); }

std::optional<Bytes> number_in(const fs::path& file) {
  std::ifstream stream(file);
  Bytes number = 0;
  if (stream >> number && number < kNoLimit) return number;
  return std::nullopt;  // no file, "max", or no limit
}

/// Returns the numbers of a file whose lines are "name number" or "name: number kB".
using Numbers = std::map<std::string, Bytes>;
Numbers numbers_of(const fs::path& file) {
  Numbers numbers;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string name;
    Bytes number = 0;
    if (!(words >> name >> number)) continue;
    if (name.ends_with(':')) name.pop_back();
    numbers[name] = number;
  }
  return numbers;
}

/// Returns a number by its name; 0: there is none.
Bytes of(const Numbers& numbers, const std::string& name) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? 0 : found->second;
}

/// Returns the bytes that a group has left; empty: it has no limit.
using LeftIn = std::optional<Bytes> (*)(const fs::path& group, Bytes free_swap);

std::optional<Bytes> left_in_second(const fs::path& group, Bytes free_swap) {
  const auto limit = number_in(group / "memory.max");
  const auto used = number_in(group / "memory.current");
  if (!limit || !used) return std::nullopt;
  const auto stat = numbers_of(group / "memory.stat");
  const Bytes files =
      of(stat, "active_file") + of(stat, "inactive_file") + of(stat, "slab_reclaimable");
  Bytes swap = free_swap;
  if (const auto most = number_in(group / "memory.swap.max")) {
    swap = std::min(swap, less(*most, number_in(group / "memory.swap.current").value_or(0)));
  }
  return less(*limit, less(*used, files)) + swap;
}

std::optional<Bytes> left_in_first(const fs::path& group, Bytes free_swap) {
  const auto limit = number_in(group / "memory.limit_in_bytes");
  const auto used = number_in(group / "memory.usage_in_bytes");
  const auto stat = numbers_of(group / "memory.stat");
  const Bytes files = of(stat, "total_active_file") + of(stat, "total_inactive_file");
  std::optional<Bytes> left;
  if (limit && used) left = less(*limit, less(*used, files)) + free_swap;
  const auto both = number_in(group / "memory.memsw.limit_in_bytes");
  const auto both_used = number_in(group / "memory.memsw.usage_in_bytes");
  if (both && both_used) {
    const Bytes of_both = less(*both, less(*both_used, files));
    left = std::min(left.value_or(of_both), of_both);
  }
  return left;
}

/// Distinguishes groups of one name, as containers see theirs.
std::uint64_t id_of(const fs::path& group) {
  struct stat status {};
  return stat(group.c_str(), &status) == 0 ? status.st_ino : 0;
}

void add_groups(const fs::path& tree, const fs::path& path, LeftIn left_in, Bytes free_swap,
                std::vector<MemoryAccount>& accounts) {
  for (const ControlGroup& group : control_groups(tree, path)) {
    const auto left = left_in(group.folder, free_swap);
    if (left)
      accounts.push_back({"limit of the control group " + group.name, id_of(group.folder), *left});
  }
}

/// Returns a limit of /proc/self/limits ("Max data size   4096   unlimited   bytes"); empty: none.
std::optional<Bytes> limit_of_process(const fs::path& root, const std::string& name) {
  std::ifstream limits(root / "proc/self/limits");
  for (std::string line; std::getline(limits, line);) {
    if (!line.starts_with(name + " ")) continue;
    std::istringstream words(line.substr(name.size()));
    Bytes soft = 0;
    if (words >> soft) return soft;
  }
  return std::nullopt;
}

void add_own(const fs::path& root, std::vector<MemoryAccount>& accounts) {
  const auto used = numbers_of(root / "proc/self/status");
  const auto add = [&](const char* limit_name, const char* use, const char* name) {
    const auto limit = limit_of_process(root, limit_name);
    if (limit && used.contains(use))
      accounts.push_back({name, 0, less(*limit, used.at(use) * kKilobyte)});
  };
  add("Max address space", "VmSize", "limit of the process's address space, ulimit -v");
  add("Max data size", "VmData", "limit of the process's data, ulimit -d");
}

Bytes held_by_the_library() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  return mallinfo2().fordblks;
#else
  return 0;
#endif
}

/// Distinguishes machines of one name.
std::uint64_t id_of_boot(const fs::path& root) {
  std::ifstream file(root / "proc/sys/kernel/random/boot_id");
  std::uint64_t id = 0;
  file >> std::hex >> id;  // up to the first '-'
  return file ? id : 0;
}

}  // namespace

AvailableMemory read_available_memory(const fs::path& root) {
  AvailableMemory available;
  const auto machine = numbers_of(root / "proc/meminfo");
  const Bytes free_swap = kKilobyte * of(machine, "SwapFree");
  const fs::path groups = root / "sys/fs/cgroup";
  if (machine.contains("MemAvailable")) {
    available.shared.push_back(
        {free_swap > 0 ? "memory and swap of the machine" : "memory of the machine",
         id_of_boot(root), kKilobyte * of(machine, "MemAvailable") + free_swap});
  }
  add_groups(groups, control_group(root, {}), left_in_second, free_swap, available.shared);
  add_groups(groups / "memory", control_group(root, "memory"), left_in_first, free_swap,
             available.shared);
  add_own(root, available.own);
  available.held = held_by_the_library();
  return available;
}

std::optional<Bytes> available_memory() {
  const AvailableMemory available = read_available_memory();
  std::optional<Bytes> least;
  for (const auto* accounts : {&available.shared, &available.own}) {
    for (const MemoryAccount& account : *accounts)
      least = std::min(least.value_or(account.left), account.left);
  }
  return least;
}

}  // namespace hios
