#include "scheduler/bounds/separators.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduler/bounds/bound_table.h"
#include "scheduler/structures/graph_partition.h"

// An operator comparable with all others (a separator) only runs in stages of one group, which cost
// their sum. If such a stage is divided into stages of one operator each, no output comes later and
// no stage ends later. So let the separator have a stage of its own: all its ancestors, which are
// all operators before it, have ended when it starts, and all others start after its end.
//
// Hence the time between two separators belongs to the operators between them alone. From the start
// of the first separator to the end of the second, the schedule is one of that subgraph. It takes
// at least any bound of the subgraph, including transfers from and to the separators. The latency
// is the sum over subgraphs, separators counted once. The work bound of a subgraph excludes its
// separators, which run alone: it is that of the operators between them.

namespace hios::scheduler {
namespace {

using Operators = std::vector<OpId>;

bool is_separator(const Operators& subgraph) { return subgraph.size() == 1; }

/// Returns a bound for the operators `between` two separators (each may be absent), without the
/// time of the separators.
double between_ms(const BoundContext& context, BoundGraphs& graphs, const Operators* before,
                  const Operators& between, const Operators* after) {
  Operators operators;
  if (before) operators = *before;
  operators.insert(operators.end(), between.begin(), between.end());
  if (after) operators.insert(operators.end(), after->begin(), after->end());
  const BoundGraph graph = graphs.subgraph(std::move(operators));
  double separators = 0;
  if (before) separators += graph.path_ms.front();
  if (after) separators += graph.path_ms.back();
  double best = std::max(work_ms(context, between), memory_ms(context, between));
  for (const LowerBound& bound : timed_bounds(graph, context)) {
    best = std::max(best, bound.ms - separators);
  }
  return best;
}

}  // namespace

double separators_ms(const BoundContext& context, BoundGraphs& graphs) {
  if (context.stopped()) return 0;
  const auto subgraphs =
      partition_graph(context.graph, std::numeric_limits<std::size_t>::max()).subgraphs;
  if (std::none_of(subgraphs.begin(), subgraphs.end(), is_separator)) return 0;
  const Operators nothing;
  double sum = 0;
  for (std::size_t i = 0; i < subgraphs.size(); ++i) {
    if (context.stopped()) break;  // remaining subgraphs count as 0
    const Operators* before = i > 0 && is_separator(subgraphs[i - 1]) ? &subgraphs[i - 1] : nullptr;
    if (!is_separator(subgraphs[i])) {
      const Operators* after = i + 1 < subgraphs.size() ? &subgraphs[i + 1] : nullptr;
      sum += between_ms(context, graphs, before, subgraphs[i], after);
      continue;
    }
    if (before) sum += between_ms(context, graphs, before, nothing, &subgraphs[i]);
    sum += graphs.subgraph(subgraphs[i]).path_ms.front();
  }
  return sum;
}

}  // namespace hios::scheduler
