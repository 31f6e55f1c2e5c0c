// Part of scheduler/bounds/bound_table.h: separators_ms().

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduler/bounds/bound_table.h"
#include "scheduler/structures/graph_partition.h"

// An operator comparable with all others (a separator) only runs in stages of one group, which cost
// their sum; divided into stages of one operator each, no output comes later and no stage ends
// later. So let it have a stage of its own: all its ancestors, which are all before it, have ended
// when it begins, and all others begin after its end. Hence the time between two separators belongs
// to the operators between them alone, and from the begin of the one to the end of the other, the
// schedule is one of that part of the graph: it takes as long as any bound of the part, transfers
// from and to the separators included. The latency is the sum of the parts, separators counted
// once. In a part, the separators are no work beside the others: the work bound is that of what is
// between them, and the separators' own times.

namespace hios::scheduler {
namespace {

using Piece = std::vector<OpId>;

bool is_separator(const Piece& piece) { return piece.size() == 1; }

/// What `between` takes, beside the separators around it, where there are any.
double between_ms(const BoundContext& context, GraphParts& parts, const Piece* before,
                  const Piece& between, const Piece* after) {
  Piece operators;
  if (before) operators = *before;
  operators.insert(operators.end(), between.begin(), between.end());
  if (after) operators.insert(operators.end(), after->begin(), after->end());
  const BoundGraph graph = parts.part(std::move(operators));
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

double separators_ms(const BoundContext& context, GraphParts& parts) {
  if (context.stopped()) return 0;
  const auto pieces =
      partition_graph(context.graph, std::numeric_limits<std::size_t>::max()).subgraphs;
  if (std::none_of(pieces.begin(), pieces.end(), is_separator)) return 0;
  const Piece nothing;
  double sum = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (context.stopped()) break;  // the rest takes no less than nothing
    const Piece* before = i > 0 && is_separator(pieces[i - 1]) ? &pieces[i - 1] : nullptr;
    if (!is_separator(pieces[i])) {
      const Piece* after = i + 1 < pieces.size() ? &pieces[i + 1] : nullptr;
      sum += between_ms(context, parts, before, pieces[i], after);
      continue;
    }
    if (before) sum += between_ms(context, parts, before, nothing, &pieces[i]);
    sum += parts.part(pieces[i]).path_ms.front();
  }
  return sum;
}

}  // namespace hios::scheduler
