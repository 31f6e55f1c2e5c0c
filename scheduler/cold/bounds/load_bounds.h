#pragma once

#include <vector>

#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/cold/bounds/moved_sets.h"

/// Bounds of cold starts, in ms, with their proofs in loads_bound.cpp, arrivals_bound.cpp and
/// flow_shop_bound.cpp.
namespace hios::scheduler {

/// Returns the bound "loads": all sets have left the stores, and then the least time that is left
/// after the last of them. `whole`: the graph.
double loads_ms(const Graph& graph, const BoundGraph& whole, const MovedSets& moved);

/// Returns the bound "arrivals": the longest path, on which an operator waits for its parameters
/// and for those of all operators before it. 0 for graphs that would take too much memory.
double arrivals_ms(const Graph& graph, const BoundGraph& whole, const MovedSets& moved);

/// Returns the bound "flow_shop": loads are the first machine of a flow shop, the devices the
/// second. `part`: the operators to count, which run on devices that `moved` leads into.
double flow_shop_ms(const BoundGraph& part, const MovedSets& moved);

/// Returns, by operator, the least time from its start to the end of the inference.
std::vector<double> times_to_end(const Graph& graph, const BoundGraph& whole);

}  // namespace hios::scheduler
