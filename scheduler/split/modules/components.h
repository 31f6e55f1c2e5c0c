#pragma once

#include <cstddef>
#include <vector>

#include "hios/graph/graph.h"

namespace hios::scheduler::split {

/// Returns the k-edge-connected components of the graph without directions: the largest sets of
/// operators that stay connected, by edges among themselves, whichever k - 1 of these edges are
/// removed. Every operator is in one set, most often alone where fewer than k edges touch it. Sets
/// are in the order of their first operators, which are in topological order. REQUIRES: k > 0.
/// O(V^2 E log E), and near E log E where few edges leave the sets.
std::vector<std::vector<OpId>> edge_connected_components(const Graph& graph, std::size_t k);

/// Divides the graph into modules, which at most `channels` edges connect where the graph permits
/// (Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for Mapping Neural Networks onto
/// Heterogeneous Platforms", section IV-B2): the components of channels + 1. The paper leaves two
/// things open. Components on a cycle of edges are one module here. And since an operator that few
/// edges touch is a component by itself, consecutive ones are joined while they have at most `most`
/// operators together; a larger component stays whole. Modules are in an order in which every edge
/// between two leads forward, operators in topological order.
std::vector<std::vector<OpId>> modules_by_components(const Graph& graph, std::size_t channels,
                                                     std::size_t most);

}  // namespace hios::scheduler::split
