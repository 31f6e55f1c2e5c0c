#pragma once

#include <cstddef>
#include <vector>

#include "hios/graph/graph.h"

namespace hios::scheduler {

/// A graph cut into subgraphs that run one after the other.
struct GraphPartition {
  std::vector<std::vector<OpId>> subgraphs;  ///< in order, each in topological order
  /// True if every cut is at an operator that is comparable with all others. No stage of
  /// independent groups can then span two subgraphs, so an optimal schedule is not lost.
  bool lossless = true;
};

/// Cuts a graph at operators that are comparable with all others; each becomes a subgraph of its
/// own. Segments larger than `limit` are cut between blocks (Operator::block), and blocks larger
/// than `limit` along their topological order. All dependencies lead to the same or a later
/// subgraph. O(V + E).
GraphPartition partition_graph(const Graph& graph, std::size_t limit);

}  // namespace hios::scheduler
