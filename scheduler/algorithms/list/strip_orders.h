#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler {

/// Returns different topological orders in which operators that exchange tensors are close to each
/// other, whenever they may run. Consecutive operators of such an order, a strip, send few tensors
/// to others, and strips form no cycle. An order by levels is none of them: its strips would run
/// one after the other. O((V + E)·log V).
std::vector<std::vector<OpId>> strip_orders(const Graph& graph, const CostModel& costs);

}  // namespace hios::scheduler
