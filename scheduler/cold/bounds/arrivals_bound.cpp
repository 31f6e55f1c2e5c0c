#include <algorithm>
#include <vector>

#include "scheduler/cold/bounds/load_bounds.h"
#include "scheduler/cold/bounds/sets_before.h"

// Before an operator starts, the parameters of all operators on paths to it have moved, each set
// once, and its own have, unless it reads them in place: then they have when it ends. So a release
// time is known for each operator, and the longest path with release times is a bound. In a stage,
// all operators wait for the parameters of all, and those of one group take at least the sum of
// their shares after that; so times can be followed from operator to operator as if each were its
// own stage.

namespace hios::scheduler {

double arrivals_ms(const Graph& graph, const BoundGraph& whole, const MovedSets& moved) {
  if (!SetsBefore::fits(graph, moved)) return 0;
  const std::vector<double> to_end = times_to_end(graph, whole);
  const SetsBefore before(graph, moved);
  std::vector<double> end_ms(graph.size(), 0);
  double longest_ms = 0;
  for (std::size_t number = 0; number < whole.size(); ++number) {
    const OpId op = whole.ops[number];
    double start_ms = 0;
    for (const EdgeId e : graph.in_edges(op)) {
      start_ms = std::max(start_ms, end_ms[graph.edge(e).from.index()]);
    }
    const double bytes = before.bytes(op);
    start_ms = std::max(start_ms, moved.moved_ms(bytes));
    double own_ms = 0;  // its own parameters have moved
    const auto set = moved.sets().of(op);
    if (set && moved.moves(*set)) {
      own_ms = moved.moved_ms(bytes + (before.has(op, *set) ? 0 : moved.least_bytes(*set)));
      if (!moved.in_place(*set)) start_ms = std::max({start_ms, own_ms, moved.held_ms(*set)});
    }
    end_ms[op.index()] = std::max(start_ms + whole.path_ms[number], own_ms);
    const double after_ms = to_end[op.index()] - whole.path_ms[number];
    longest_ms = std::max(longest_ms, end_ms[op.index()] + after_ms);
  }
  return longest_ms;
}

}  // namespace hios::scheduler
