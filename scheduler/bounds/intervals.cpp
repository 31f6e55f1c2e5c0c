#include "scheduler/bounds/intervals.h"

#include <algorithm>

#include "scheduler/bounds/relaxations/confined.h"

// The bound of relaxations/confined.cpp for all operators on all devices, and for each device
// subset with the operators that can run only there.

namespace hios::scheduler {
namespace {

Confined confined_to(const std::vector<DeviceId>& devices, const BoundGraph& graph,
                     const TimeWindows& windows, const Shares& shares) {
  const AllowedDevices& allowed = *graph.allowed;
  std::vector<bool> inside(allowed.sets());
  for (std::size_t set = 0; set < allowed.sets(); ++set) {
    const auto& own = allowed.set(set);
    inside[set] = std::includes(devices.begin(), devices.end(), own.begin(), own.end());
  }
  Confined confined;
  std::vector<OpId> ops;
  std::vector<double> window_ms;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (!inside[allowed.set_of(graph.ops[v])]) continue;
    confined.jobs.push_back({windows.head[v], graph.window_ms[v], windows.tail[v]});
    ops.push_back(graph.ops[v]);
    window_ms.push_back(graph.window_ms[v]);
  }
  confined.speeds = device_speeds(ops, window_ms, shares, allowed);
  return confined;
}

}  // namespace

double intervals_ms(const BoundGraph& graph, const TimeWindows& windows,
                    const BoundContext& context) {
  constexpr std::size_t kMostSets = 16;
  if (context.stopped()) return 0;
  Confined all;
  all.speeds = graph.speeds;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    all.jobs.push_back({windows.head[v], graph.window_ms[v], windows.tail[v]});
  }
  double longest = confined_ms(std::move(all));
  const AllowedDevices& allowed = *graph.allowed;
  for (std::size_t set = 0; set < std::min(kMostSets, allowed.sets()); ++set) {
    if (context.stopped()) break;
    if (allowed.set(set).size() >= graph.speeds.size()) continue;
    longest = std::max(longest,
                       confined_ms(confined_to(allowed.set(set), graph, windows, context.shares)));
  }
  return longest;
}

}  // namespace hios::scheduler
