#include "engine/host/cores.h"

#include <sched.h>

#include <algorithm>
#include <string>
#include <utility>

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

bool is_near(const CoreWish& wish, int core) { return std::ranges::count(wish.near, core) > 0; }

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

std::vector<std::vector<int>> assign_cores(const std::vector<int>& allowed,
                                           const std::vector<CoreWish>& by_local_rank,
                                           bool oversubscribe) {
  std::vector<std::vector<int>> assigned(by_local_rank.size());
  std::size_t wanted = 0;
  for (const CoreWish& wish : by_local_rank) wanted += static_cast<std::size_t>(wish.count);
  if (wanted > allowed.size()) {
    if (oversubscribe) return assigned;
    throw InputError("the ranks of this host want " + std::to_string(wanted) +
                         " cores and are allowed " + std::to_string(allowed.size()),
                     need::Cores{});
  }
  std::vector<int> left = allowed;
  const auto take = [&](std::size_t rank, const auto& suits) {
    std::erase_if(left, [&](int core) {
      const bool takes = std::ssize(assigned[rank]) < by_local_rank[rank].count &&
                         suits(by_local_rank[rank], core);
      if (takes) assigned[rank].push_back(core);
      return takes;
    });
  };
  for (std::size_t rank = 0; rank < assigned.size(); ++rank) take(rank, is_near);
  for (std::size_t rank = 0; rank < assigned.size(); ++rank) {
    take(rank, [](const CoreWish&, int) { return true; });
    std::ranges::sort(assigned[rank]);
  }
  return assigned;
}

std::vector<int> cores_near_device(const std::vector<int>& allowed,
                                   const std::vector<CoreWish>& by_local_rank,
                                   const std::vector<std::vector<int>>& assigned,
                                   std::size_t local_rank) {
  std::vector<int> cores;
  for (const int core : allowed) {
    bool computes = false;  // on this core, a rank without a device
    for (std::size_t rank = 0; rank < assigned.size(); ++rank) {
      computes = computes ||
                 (by_local_rank[rank].near.empty() && std::ranges::count(assigned[rank], core) > 0);
    }
    if (!computes && is_near(by_local_rank[local_rank], core)) cores.push_back(core);
  }
  return cores;
}

}  // namespace hios
