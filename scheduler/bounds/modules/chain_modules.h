#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hios/graph/graph.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/class_costs.h"

namespace hios::scheduler {

/// Operators of a module that follow each other.
struct ModuleChain {
  std::vector<std::uint32_t> operators;  ///< at least one
  /// The edge that leads to each operator, and last the edge to the module's exit. Null: there is
  /// none, and nothing is known of a transfer.
  std::vector<const ClassEdge*> edges;
  /// The least times from the entry's end to the first operator's start, and from the last
  /// operator's end to the exit's start, by operators of other chains.
  double before_ms = 0, after_ms = 0;
};

/// The operators between two separators (bounds/separators.cpp), as chains that have each once.
struct ChainModule {
  std::optional<std::uint32_t> entry;  ///< absent: the graph begins with the module
  std::optional<std::uint32_t> exit;   ///< absent: the graph ends with it
  std::vector<ModuleChain> chains;
  std::vector<const ClassEdge*> direct;  ///< edges from the entry to the exit
};

/// Divides the whole graph into modules, each one's exit the next one's entry; a graph without
/// separators is one module. `of` is the graph with the operators' numbers. The costs outlive the
/// modules. O(V + E).
std::vector<ChainModule> chain_modules(const Graph& graph, const BoundGraph& of,
                                       const ClassCosts& costs);

}  // namespace hios::scheduler
