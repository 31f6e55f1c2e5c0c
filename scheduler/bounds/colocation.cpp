#include "scheduler/bounds/colocation.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "scheduler/bounds/relaxations/best_threshold.h"
#include "scheduler/bounds/relaxations/one_device.h"

// An edge is cut if its ends are on different devices. Suppose that the latency is below T. An edge
// (u, v) with head(u) + f(u) + transfer + f(v) + tail(v) >= T is then not cut, so u and v share a
// device. So do all operators of a component that such edges connect, and the component takes as
// long as its preemptive schedule on one machine.
//
// The smaller T, the more edges connect. Edges are sorted by the latency that cutting them would
// cause, the largest first. If the first k connect, the next may be cut, and the best k is found by
// binary search. Edges between operators that must share a device come first. A component that no
// device can run and hold, by `allowed` or by memory, takes infinitely long, so that an edge of it
// is cut.

namespace hios::scheduler {
namespace {

struct CutEdge {
  double latency_ms;  ///< lower bound on the latency if the edge is cut
  std::uint32_t from, to;
};

std::vector<CutEdge> edges_by_cut_latency(const BoundGraph& graph, const TimeWindows& windows) {
  std::vector<CutEdge> edges;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const double rest = graph.path_ms[v] + windows.tail[v];
    for (const Arc& arc : graph.edges.inputs(v)) {
      if (!arc.may_share) continue;  // always cut, and part of the heads
      const double before = windows.head[arc.other] + graph.path_ms[arc.other];
      edges.push_back({before + arc.transfer_ms + rest, arc.other, static_cast<std::uint32_t>(v)});
    }
  }
  std::sort(edges.begin(), edges.end(),
            [](const CutEdge& a, const CutEdge& b) { return a.latency_ms > b.latency_ms; });
  return edges;
}

/// Returns the longest time of a component that these edges connect.
double longest_component_ms(const BoundGraph& graph, const TimeWindows& windows,
                            const OneDevice& device, std::span<const CutEdge> connecting) {
  ConnectedComponents components(graph.size());
  for (const CutEdge& edge : connecting) components.connect(edge.from, edge.to);
  double longest = 0;
  for (const auto& component : components.members()) {
    longest = std::max(longest, device.shared_ms(component, windows));
  }
  return longest;
}

}  // namespace

double colocation_ms(const BoundGraph& graph, const TimeWindows& windows,
                     const BoundContext& context) {
  if (context.stopped()) return 0;
  const std::vector<CutEdge> edges = edges_by_cut_latency(graph, windows);
  const OneDevice device(graph, context);
  bool stopped = false;  // then the binary search has no result
  const double latency = best_threshold(
      edges.size(), 0, [&](std::size_t k) { return edges[k].latency_ms; },
      [&](std::size_t k) {
        stopped = stopped || context.stopped();
        if (stopped) return 0.0;
        return longest_component_ms(graph, windows, device, std::span(edges).first(k));
      });
  if (stopped) return 0;
  // Infinite: operators that must share a device fit on none, so no schedule exists.
  return latency < std::numeric_limits<double>::infinity() ? latency : 0;
}

}  // namespace hios::scheduler
