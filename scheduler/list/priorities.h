#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler {

/// The priority indicator p(v) of Kundu and Shu, HIOS, section IV-A, by OpId, in ms: the length of
/// the longest path from v to the end of the graph, v's own time and all edges included. Times and
/// transfers are the cost model's means over devices.
std::vector<double> upward_ranks(const Graph& graph, const CostModel& costs);

/// v_1, v_2, …, v_n: all operators by descending priority, equal ones in topological order. Always
/// a topological order itself, also with operators and transfers that take no time.
std::vector<OpId> priority_order(const Graph& graph, const CostModel& costs);

/// Positions in such an order, by OpId.
std::vector<std::size_t> positions(const std::vector<OpId>& order);

}  // namespace hios::scheduler
