#include "scheduler/best/starts/device_subsets.h"

#include <optional>
#include <utility>

#include "hios/base/error.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/list/device_classes.h"
#include "scheduler/list/placement.h"

// The starts of a subset take about as long as those of the whole platform, so its bound comes
// first. Subsets that cannot improve are left out, the largest first: smaller ones may still help a
// larger one. That changes no result, since they would be pruned before the first move. It spares
// large graphs the starts on few of many useful devices.

namespace hios::scheduler::best {
namespace {

constexpr std::size_t kMaxSubsets = 2;       ///< each is searched alone while it may improve
constexpr double kShareOfSubsetBound = 0.2;  ///< share of the time left for each bound

/// A subset before its starts.
struct BoundedSubset {
  CostModel costs;
  double bound_ms = 0;
};

std::optional<BoundedSubset> bounded(const Graph& graph, const CostModel& costs,
                                     const std::vector<DeviceId>& devices,
                                     const Deadline& deadline) {
  if (!may_hold(graph, costs.platform(), devices)) return std::nullopt;
  try {
    BoundedSubset subset{costs.only(devices)};
    subset.bound_ms = lower_bound(graph, subset.costs, deadline.share(kShareOfSubsetBound)).ms;
    return subset;
  } catch (const InputError&) {
    return std::nullopt;  // an operator that no device of the subset can run
  }
}

}  // namespace

std::vector<DeviceSubset> device_subsets(const Graph& graph, const CostModel& costs,
                                         std::size_t threads, double known_ms,
                                         const Deadline& deadline) {
  std::vector<BoundedSubset> open;
  for (const auto& devices : fastest_devices(graph, costs, kMaxSubsets)) {
    if (deadline.expired()) break;
    if (auto subset = bounded(graph, costs, devices, deadline)) open.push_back(std::move(*subset));
  }
  while (!open.empty() && open.back().bound_ms >= known_ms) open.pop_back();
  std::vector<DeviceSubset> found;
  for (BoundedSubset& subset : open) {
    if (deadline.expired()) break;
    try {
      const std::vector<Start> made = starts(graph, subset.costs, threads, deadline);
      found.push_back(
          {std::move(subset.costs), made.front(), island_starts(made), subset.bound_ms});
    } catch (const InputError&) {
      // Too little memory.
    }
  }
  return found;
}

}  // namespace hios::scheduler::best
