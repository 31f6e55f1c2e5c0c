#include "scheduler/bounds/critical_path.h"

#include <algorithm>

// An operator starts no earlier than its head and takes its path share, and its successors take its
// tail: latency >= head + share + tail. Heads and tails cover every path, with the transfers that
// no assignment can avoid. These are the transfers between operators that have no device in common,
// and those cheaper than running both ends on one device (graph/heads.cpp).

namespace hios::scheduler {

double critical_path_ms(const BoundGraph& graph, const TimeWindows& windows) {
  double longest = 0;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    longest = std::max(longest, windows.head[v] + graph.path_ms[v] + windows.tail[v]);
  }
  return longest;
}

}  // namespace hios::scheduler
