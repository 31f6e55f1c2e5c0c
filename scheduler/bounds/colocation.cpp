// Part of scheduler/bounds/bound_table.h: colocation_ms().

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "scheduler/bounds/bound_table.h"
#include "scheduler/bounds/relaxations/one_device.h"
#include "scheduler/bounds/relaxations/threshold.h"

// Suppose that the latency is below T. An edge (u, v) with head(u) + f(u) + transfer + f(v) +
// tail(v) >= T is then not paid for, so u and v share a device; so do all that such edges connect,
// and a connected part takes as long as its preemptive schedule on one machine. The longer the
// edges that are paid for, the smaller are the parts: with the edges sorted by what paying for them
// would make of the latency, the first k connect, the next is paid, and the best k is found by
// binary search. Edges between operators that share a device for certain come first. A part
// that no device can run and hold, by `allowed` or by memory, counts as endless, so that an edge is
// paid for.

namespace hios::scheduler {
namespace {

struct PaidEdge {
  double latency_ms;  ///< at least, if it is paid for
  std::uint32_t from, to;
};

std::vector<PaidEdge> edges_by_price(const BoundGraph& graph, const Windows& windows) {
  std::vector<PaidEdge> edges;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const double rest = graph.path_ms[v] + windows.tail[v];
    for (const Arc& arc : graph.edges.inputs(v)) {
      if (!arc.may_share) continue;  // always paid, and in the heads
      const double before = windows.head[arc.other] + graph.path_ms[arc.other];
      edges.push_back({before + arc.transfer_ms + rest, arc.other, static_cast<std::uint32_t>(v)});
    }
  }
  std::sort(edges.begin(), edges.end(),
            [](const PaidEdge& a, const PaidEdge& b) { return a.latency_ms > b.latency_ms; });
  return edges;
}

/// The longest that a part takes which these edges connect.
double longest_part_ms(const BoundGraph& graph, const Windows& windows, const OneDevice& device,
                       std::span<const PaidEdge> connecting) {
  ConnectedParts parts(graph.size());
  for (const PaidEdge& edge : connecting) parts.connect(edge.from, edge.to);
  double longest = 0;
  for (const auto& part : parts.members()) {
    longest = std::max(longest, device.shared_ms(part, windows));
  }
  return longest;
}

}  // namespace

double colocation_ms(const BoundGraph& graph, const Windows& windows, const BoundContext& context) {
  if (context.stopped()) return 0;
  const std::vector<PaidEdge> edges = edges_by_price(graph, windows);
  const OneDevice device(graph, context);
  bool stopped = false;  // and the search for the best k with it: nothing is known then
  const double latency = share_or_pay(
      edges.size(), 0, [&](std::size_t k) { return edges[k].latency_ms; },
      [&](std::size_t k) {
        stopped = stopped || context.stopped();
        if (stopped) return 0.0;
        return longest_part_ms(graph, windows, device, std::span(edges).first(k));
      });
  if (stopped) return 0;
  // Infinite: operators that share a device for certain fit on none, and there is no schedule.
  return latency < std::numeric_limits<double>::infinity() ? latency : 0;
}

}  // namespace hios::scheduler
