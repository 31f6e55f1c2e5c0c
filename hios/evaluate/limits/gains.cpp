#include "hios/evaluate/limits/gains.h"

#include <numeric>

#include "hios/evaluate/limits/longest_path.h"

namespace hios {

Gain quick_gain(const Graph& graph, std::span<const double> path_ms,
                std::span<const double> work_ms, std::size_t devices) {
  const double longest_ms = longest_path(graph, path_ms).ms;
  const double share_ms =
      std::accumulate(work_ms.begin(), work_ms.end(), 0.0) / static_cast<double>(devices);
  if (share_ms > longest_ms) return {devices, share_ms, "work"};
  return {devices, longest_ms, "critical_path"};
}

}  // namespace hios
