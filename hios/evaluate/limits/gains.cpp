#include "hios/evaluate/limits/gains.h"

#include <numeric>

#include "hios/evaluate/limits/longest_path.h"

namespace hios {

Gain quick_gain(const Graph& graph, std::span<const double> operator_ms, bool serial,
                std::size_t devices) {
  const double path_ms = longest_path(graph, operator_ms).ms;
  const double all_ms = std::accumulate(operator_ms.begin(), operator_ms.end(), 0.0);
  const double work_ms = serial ? all_ms / static_cast<double>(devices) : 0;
  if (work_ms > path_ms) return {devices, work_ms, "work"};
  return {devices, path_ms, "critical_path"};
}

}  // namespace hios
