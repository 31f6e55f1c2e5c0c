#include <algorithm>
#include <limits>

#include "scheduler/cold/bounds/load_bounds.h"

// The last set to leave the stores has left them no earlier than all sets that move. Then an
// operator that reads this set still has to run, unless it read the set in place, and after it
// those on the longest path to an output: at least the least such time over all sets.

namespace hios::scheduler {

double after_operator_ms(const Graph& graph, OpId op, const std::vector<double>& to_end) {
  double after = 0;
  for (const EdgeId e : graph.out_edges(op)) {
    after = std::max(after, to_end[graph.edge(e).to.index()]);
  }
  return after;
}

std::vector<double> times_to_end(const Graph& graph, const BoundGraph& whole) {
  std::vector<double> ms(graph.size(), 0);
  for (std::size_t number = whole.size(); number-- > 0;) {
    const OpId op = whole.ops[number];
    ms[op.index()] = whole.path_ms[number] + after_operator_ms(graph, op, ms);
  }
  return ms;
}

double least_rest_ms(const Graph& graph, const MovedSets& moved,
                     const std::vector<double>& to_end) {
  double least_ms = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < moved.sets().sets().size(); ++s) {
    if (!moved.moves(s)) continue;
    for (const OpId op : moved.sets().sets()[s].operators) {
      least_ms = std::min(
          least_ms, moved.in_place(s) ? after_operator_ms(graph, op, to_end) : to_end[op.index()]);
    }
  }
  return least_ms;
}

double loads_ms(const Graph& graph, const BoundGraph& whole, const MovedSets& moved) {
  double bytes = 0;
  for (std::size_t s = 0; s < moved.sets().sets().size(); ++s) {
    if (moved.moves(s)) bytes += moved.least_bytes(s);
  }
  if (!(bytes > 0)) return 0;
  return moved.moved_ms(bytes) + least_rest_ms(graph, moved, times_to_end(graph, whole));
}

}  // namespace hios::scheduler
