// Part of scheduler/bounds/bound_table.h: intervals_ms().

#include <algorithm>

#include "scheduler/bounds/bound_table.h"
#include "scheduler/bounds/relaxations/confined.h"

// All operators and all devices, and those that can only come to some of the devices, and these:
// what they take is in confined.cpp.

namespace hios::scheduler {
namespace {

Confined confined_to(const std::vector<DeviceId>& devices, const BoundGraph& graph,
                     const Windows& windows, const Shares& shares) {
  const Places& places = *graph.places;
  std::vector<bool> inside(places.sets());
  for (std::size_t set = 0; set < places.sets(); ++set) {
    const auto& own = places.set(set);
    inside[set] = std::includes(devices.begin(), devices.end(), own.begin(), own.end());
  }
  Confined confined;
  std::vector<OpId> ops;
  std::vector<double> window_ms;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (!inside[places.set_of(graph.ops[v])]) continue;
    confined.jobs.push_back({windows.head[v], graph.window_ms[v], windows.tail[v]});
    ops.push_back(graph.ops[v]);
    window_ms.push_back(graph.window_ms[v]);
  }
  confined.speeds = device_speeds(ops, window_ms, shares, places);
  return confined;
}

}  // namespace

double intervals_ms(const BoundGraph& graph, const Windows& windows, const BoundContext& context) {
  constexpr std::size_t kMostSets = 16;
  if (context.stopped()) return 0;
  Confined all;
  all.speeds = graph.speeds;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    all.jobs.push_back({windows.head[v], graph.window_ms[v], windows.tail[v]});
  }
  double longest = confined_ms(std::move(all));
  const Places& places = *graph.places;
  for (std::size_t set = 0; set < std::min(kMostSets, places.sets()); ++set) {
    if (context.stopped()) break;
    if (places.set(set).size() >= graph.speeds.size()) continue;
    longest = std::max(longest,
                       confined_ms(confined_to(places.set(set), graph, windows, context.shares)));
  }
  return longest;
}

}  // namespace hios::scheduler
