#pragma once

#include <vector>

#include "hios/graph/graph.h"

namespace hios::scheduler {

/// The variants of a depth-first search.
struct DepthFirst {
  bool from_ends = true;      ///< against the edges; else along them, from operators without inputs
  bool roots_forward = true;  ///< in topological order, else against it
  bool first_edge = false;    ///< an operator's first edge is followed first, else its last one
};

/// Returns a topological order: that in which a depth-first search leaves operators, reversed where
/// it goes along the edges. An operator is next to the one that the search came from. O(V + E).
std::vector<OpId> depth_first_order(const Graph& graph, const DepthFirst& search = {});

}  // namespace hios::scheduler
