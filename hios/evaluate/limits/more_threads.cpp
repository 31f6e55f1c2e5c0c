#include "hios/evaluate/limits/more_threads.h"

#include <cstdint>

namespace hios {
namespace {

/// Returns nothing where an operator was not measured.
std::optional<double> sequential_ms(const Graph& graph, const Configuration& configuration) {
  double sum_ms = configuration.launch ? configuration.launch->ms : 0;
  for (const Operator& op : graph.operators()) {
    const auto found = configuration.operators.find(op.signature);
    if (found == configuration.operators.end()) return {};
    sum_ms += found->second.ms;
  }
  return sum_ms;
}

}  // namespace

std::optional<OneRankOfThreads> more_threads(const Graph& graph, const Platform& platform,
                                             const Profile& profile) {
  if (platform.size() < 2 || !platform.alike() || graph.batching()) return {};
  const Device& device = platform.device(DeviceId(0));
  const Configuration* const own = profile.find(platform, DeviceId(0));
  const auto most = std::int64_t{device.threads} * static_cast<std::int64_t>(platform.size());
  std::optional<OneRankOfThreads> best;
  for (const Configuration& other : profile.configurations) {
    const bool alike = other.kind == device.kind && other.precision == device.precision &&
                       (!own || other.backend == own->backend);
    if (!alike || other.ranks != 1 || other.threads <= device.threads || other.threads > most) {
      continue;
    }
    const std::optional<double> ms = sequential_ms(graph, other);
    if (ms && (!best || *ms < best->sequential_ms)) best = {other.threads, *ms};
  }
  return best;
}

}  // namespace hios
