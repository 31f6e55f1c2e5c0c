#pragma once

#include <cstddef>
#include <vector>

#include "hios/graph/graph.h"

namespace hios::scheduler::sortinghat {

/// Sizes of submodels.
struct SubmodelLimits {
  std::size_t dominators = 1;  ///< partition nodes that a submodel ends with (ndom); at least 1
  std::size_t operators = 32;  ///< larger submodels are cut; at least 1
};

/// Returns the partition nodes: the operators on every path from a virtual source, before all
/// inputs, to a virtual sink, after all outputs. In topological order.
std::vector<OpId> partition_nodes(const Graph& graph);

/// Returns submodels: consecutive ranges of the graph's topological order, which together are all
/// of it. Each ends with a partition node, unless it was cut, or comes after the last of them.
std::vector<std::vector<OpId>> submodels(const Graph& graph, const SubmodelLimits& limits);

}  // namespace hios::scheduler::sortinghat
