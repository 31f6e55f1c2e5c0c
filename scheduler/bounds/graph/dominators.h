#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/bounds/graph/bound_graph.h"

namespace hios::scheduler {

inline constexpr std::size_t kNoDominator = static_cast<std::size_t>(-1);

/// Returns, by operator, its immediate dominator: the last other operator that is on every path
/// from an operator without inputs to it. Returns kNoDominator if there is none, or if it is more
/// than `limit` steps up the dominator tree, so that the time is linear.
std::vector<std::size_t> immediate_dominators(const BoundGraph& graph, std::size_t limit);

}  // namespace hios::scheduler
