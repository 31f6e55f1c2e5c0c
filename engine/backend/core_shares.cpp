#include <algorithm>

#include "engine/backend/backend.h"

namespace hios {

std::vector<Lane> lanes(std::size_t groups, int threads) {
  const int cores = std::max(threads, 1);  // a GPU has none; its lanes are streams
  const int count = static_cast<int>(groups);
  std::vector<Lane> result;
  result.reserve(groups);
  int next_core = 0;
  for (int group = 0; group < count; ++group) {
    const int share = cores / count + (group < cores % count ? 1 : 0);
    Lane lane{StreamIndex(static_cast<std::size_t>(group)), std::max(share, 1), next_core};
    if (share == 0) lane.first_core = group % cores;  // all cores are taken: share one
    next_core += share;
    result.push_back(lane);
  }
  return result;
}

}  // namespace hios
