#include <algorithm>
#include <limits>

#include "scheduler/cold/bounds/load_bounds.h"

// The last set to leave the stores has left them no earlier than all sets that move. Then an
// operator that reads this set still has to run, unless it read the set in place, and after it
// those on the longest path to an output: at least the least such time over all sets.

namespace hios::scheduler {

std::vector<double> times_to_end(const Graph& graph, const BoundGraph& whole) {
  std::vector<double> ms(graph.size(), 0);
  for (std::size_t number = whole.size(); number-- > 0;) {
    double after = 0;
    for (const EdgeId e : graph.out_edges(whole.ops[number])) {
      after = std::max(after, ms[graph.edge(e).to.index()]);
    }
    ms[whole.ops[number].index()] = whole.path_ms[number] + after;
  }
  return ms;
}

double loads_ms(const Graph& graph, const BoundGraph& whole, const MovedSets& moved) {
  const std::vector<double> to_end = times_to_end(graph, whole);
  double bytes = 0, least_rest_ms = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < moved.sets().sets().size(); ++s) {
    if (!moved.moves(s)) continue;
    bytes += moved.least_bytes(s);
    for (const OpId op : moved.sets().sets()[s].operators) {
      double rest_ms = to_end[op.index()];
      if (moved.in_place(s)) {
        rest_ms = 0;
        for (const EdgeId e : graph.out_edges(op)) {
          rest_ms = std::max(rest_ms, to_end[graph.edge(e).to.index()]);
        }
      }
      least_rest_ms = std::min(least_rest_ms, rest_ms);
    }
  }
  return bytes > 0 ? moved.moved_ms(bytes) + least_rest_ms : 0;
}

}  // namespace hios::scheduler
