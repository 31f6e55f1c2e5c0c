#pragma once

#include <cstddef>
#include <vector>

#include "hios/graph/graph.h"

namespace hios::scheduler {

/// A graph cut into pieces that run one after the other.
struct Pieces {
  std::vector<std::vector<OpId>> pieces;  ///< in order; each in topological order
  /// Every cut was at an operator that is comparable with all others: no stage of independent
  /// groups can span two pieces, so that nothing is lost.
  bool lossless = true;
};

/// Cuts at operators comparable with all others (each becomes a piece of its own); what is still
/// larger than `limit` between blocks (Operator::block); and blocks that are still larger along
/// their topological order. All dependencies point to the same or a later piece. O(V + E).
Pieces cut_into_pieces(const Graph& graph, std::size_t limit);

}  // namespace hios::scheduler
