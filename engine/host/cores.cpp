#include "engine/host/cores.h"

#include <sched.h>

#include <numeric>
#include <string>

#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios {
namespace {

std::vector<int> cores_of_this_thread() {
  // The kernel refuses a mask smaller than its own, so the mask grows until it fits.
  for (int capacity = 1024;; capacity *= 2) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(capacity));
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    CPU_ZERO_S(size, mask);
    const bool fits = sched_getaffinity(0, size, mask) == 0;
    std::vector<int> cores;
    for (int core = 0; fits && core < capacity; ++core) {
      if (CPU_ISSET_S(static_cast<std::size_t>(core), size, mask)) cores.push_back(core);
    }
    CPU_FREE(mask);
    if (fits) return cores;
    if (capacity > 1 << 20)
      throw RunError("the operating system does not say which cores are allowed");
  }
}

}  // namespace

std::vector<int> allowed_cores() {
  static const std::vector<int> cores = cores_of_this_thread();
  return cores;
}

void allow_cores(const std::vector<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  sched_setaffinity(0, sizeof(set), &set);  // a refusal costs time, nothing else
}

std::vector<int> assign_cores(const std::vector<int>& allowed,
                              const std::vector<int>& threads_by_local_rank, std::size_t local_rank,
                              bool oversubscribe) {
  const auto begin = threads_by_local_rank.begin();
  const auto wanted =
      static_cast<std::size_t>(std::accumulate(begin, threads_by_local_rank.end(), 0));
  if (wanted > allowed.size()) {
    if (oversubscribe) return {};
    throw InputError("the ranks of this host want " + std::to_string(wanted) +
                         " cores and are allowed " + std::to_string(allowed.size()),
                     need::Cores{});
  }
  const auto mine = begin + static_cast<std::ptrdiff_t>(local_rank);
  const auto first = allowed.begin() + std::accumulate(begin, mine, 0);
  return {first, first + *mine};
}

}  // namespace hios
