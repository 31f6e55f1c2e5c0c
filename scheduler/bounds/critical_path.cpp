// Part of scheduler/bounds/bound_table.h: critical_path_ms().

#include <algorithm>

#include "scheduler/bounds/bound_table.h"

// An operator begins no earlier than its head, takes its path share, and what follows takes its
// tail: latency >= head + share + tail. Heads and tails hold every path, with the transfers that no
// assignment can avoid: those between operators that have no device in common, and those that cost
// less than running on one device what would else be sent (heads.cpp).

namespace hios::scheduler {

double critical_path_ms(const BoundGraph& graph, const Windows& windows) {
  double longest = 0;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    longest = std::max(longest, windows.head[v] + graph.path_ms[v] + windows.tail[v]);
  }
  return longest;
}

}  // namespace hios::scheduler
