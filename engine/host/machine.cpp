#include "engine/host/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace hios {

namespace {

std::optional<Bytes> number_in(const char* file) {
  std::ifstream stream(file);
  Bytes number = 0;
  if (stream >> number) return number;
  return std::nullopt;  // no file, or "max"
}

std::optional<Bytes> available_to_the_machine() {
  std::ifstream stream("/proc/meminfo");
  for (std::string word; stream >> word;) {
    Bytes kilobytes = 0;
    if (word == "MemAvailable:" && stream >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

std::optional<Bytes> available_to_the_container() {
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return std::nullopt;
  return *limit - std::min(*limit, *used);
}

std::optional<Bytes> available_to_the_process() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto pages = number_in("/proc/self/statm");  // its first number: the address space in use
  if (!pages) return std::nullopt;
  const Bytes used = *pages * static_cast<Bytes>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<Bytes>(limit.rlim_cur, used);
}

}  // namespace

std::string processor_name(const std::filesystem::path& root) {
  std::ifstream cpuinfo(root / "proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::size_t last_level_cache_bytes() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    const long bytes = sysconf(level);
    if (bytes > 0) return static_cast<std::size_t>(bytes);
  }
  return std::size_t{32} << 20;
}

std::optional<Bytes> available_memory() {
  std::optional<Bytes> least;
  for (const auto& available :
       {available_to_the_machine(), available_to_the_container(), available_to_the_process()}) {
    if (available && (!least || *available < *least)) least = available;
  }
  return least;
}

}  // namespace hios
