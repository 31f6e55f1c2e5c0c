#include "engine/backend/core_shares.h"

#include <algorithm>

namespace hios {

std::vector<CoreShare> core_shares(std::size_t groups, int threads) {
  const int cores = std::max(threads, 1);  // a GPU has none; its core shares are streams
  const int count = static_cast<int>(groups);
  std::vector<CoreShare> result;
  result.reserve(groups);
  int next_core = 0;
  for (int group = 0; group < count; ++group) {
    const int cores_of_group = cores / count + (group < cores % count ? 1 : 0);
    CoreShare share{StreamIndex(static_cast<std::size_t>(group)), std::max(cores_of_group, 1),
                    next_core};
    if (cores_of_group == 0) share.first_core = group % cores;  // all cores are taken: share one
    next_core += cores_of_group;
    result.push_back(share);
  }
  return result;
}

std::set<int> cores_of_groups(int threads, int streams) {
  std::set<int> cores;
  const int most = std::clamp(streams, 1, std::max(threads, 1));  // of more, each has one core
  for (int groups = 1; groups <= most; ++groups) {
    for (const CoreShare& share : core_shares(static_cast<std::size_t>(groups), threads)) {
      cores.insert(share.threads);
    }
  }
  return cores;
}

}  // namespace hios
