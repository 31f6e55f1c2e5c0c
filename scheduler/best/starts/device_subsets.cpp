#include "scheduler/best/starts/device_subsets.h"

#include "hios/base/error.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/list/device_classes.h"
#include "scheduler/list/placement.h"

namespace hios::scheduler::best {
namespace {

constexpr std::size_t kMostNests = 2;         ///< a search of its own each, while it has a chance
constexpr std::size_t kMostOperators = 2000;  ///< beyond, time is short enough for one

}  // namespace

std::vector<Nest> nests(const Graph& graph, const CostModel& costs, std::size_t threads,
                        const Deadline& deadline) {
  std::vector<Nest> found;
  if (graph.size() > kMostOperators) return found;
  for (const auto& devices : fastest_devices(graph, costs, kMostNests)) {
    if (deadline.expired()) break;
    if (!may_hold(graph, costs.platform(), devices)) continue;
    try {
      CostModel some = costs.only(devices);
      Start start = starts(graph, some, threads, deadline).front();
      if (!found.empty() && found.back().start.latency_ms < start.latency_ms) {
        start = found.back().start;
      }
      const double bound = lower_bound(graph, some, deadline).ms;
      found.push_back({std::move(some), std::move(start), bound});
    } catch (const InputError&) {
      // Too little memory, or an operator that none of them can run.
    }
  }
  return found;
}

}  // namespace hios::scheduler::best
