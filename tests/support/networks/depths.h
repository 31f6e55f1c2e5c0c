#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "hios/graph/graph.h"

namespace hios::test {

/// Returns the longest path to each operator, in operators: its layer, if layers mean anything.
inline std::vector<std::size_t> depths(const Graph& graph) {
  std::vector<std::size_t> depth(graph.size(), 0);
  for (const OpId op : graph.topological()) {
    for (const EdgeId e : graph.in_edges(op)) {
      depth[op.index()] = std::max(depth[op.index()], depth[graph.edge(e).from.index()] + 1);
    }
  }
  return depth;
}

}  // namespace hios::test
