#include "scheduler/best/starts/device_subsets.h"

#include "hios/base/error.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/list/device_classes.h"
#include "scheduler/list/placement.h"

namespace hios::scheduler::best {
namespace {

constexpr std::size_t kMaxSubsets = 2;  ///< each is searched alone while it may improve
constexpr std::size_t kMaxOperatorsOfSubsets =
    2000;  ///< larger graphs leave time for one search only

}  // namespace

std::vector<DeviceSubset> device_subsets(const Graph& graph, const CostModel& costs,
                                         std::size_t threads, const Deadline& deadline) {
  std::vector<DeviceSubset> found;
  if (graph.size() > kMaxOperatorsOfSubsets) return found;
  for (const auto& devices : fastest_devices(graph, costs, kMaxSubsets)) {
    if (deadline.expired()) break;
    if (!may_hold(graph, costs.platform(), devices)) continue;
    try {
      CostModel some = costs.only(devices);
      const std::vector<Start> made = starts(graph, some, threads, deadline);
      const double bound = lower_bound(graph, some, deadline).ms;
      found.push_back({std::move(some), made.front(), island_starts(made), bound});
    } catch (const InputError&) {
      // Too little memory, or an operator that no device of the subset can run.
    }
  }
  return found;
}

}  // namespace hios::scheduler::best
