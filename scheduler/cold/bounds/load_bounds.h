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

/// Throws InputError where an operator takes less in place than with its parameters on the device:
/// then no bound for resident parameters is one of cold starts.
void check_in_place(const Graph& graph, const CostModel& costs);

/// Returns the devices on which some operator can be placed, ascending.
std::vector<DeviceId> used_devices(const Graph& graph, const AllowedDevices& allowed);

/// Returns, by operator, the least time from its start to the end of the inference.
std::vector<double> times_to_end(const Graph& graph, const BoundGraph& whole);

/// Returns the least time from the end of an operator to the end of the inference.
double after_operator_ms(const Graph& graph, OpId op, const std::vector<double>& to_end);

/// Returns the least time that is left when the last set has moved, whichever it is; infinity where
/// none moves.
double least_rest_ms(const Graph& graph, const MovedSets& moved, const std::vector<double>& to_end);

}  // namespace hios::scheduler
