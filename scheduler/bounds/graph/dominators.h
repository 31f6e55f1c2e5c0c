#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/bounds/graph/bound_graph.h"

namespace hios::scheduler {

inline constexpr std::size_t kNoDominator = static_cast<std::size_t>(-1);

/// By operator: its immediate dominator, the last other operator that is on every path from an
/// operator without inputs to it; or kNoDominator, also where it is more than `limit` steps of
/// dominators away, so that the time stays linear.
std::vector<std::size_t> immediate_dominators(const BoundGraph& graph, std::size_t limit);

}  // namespace hios::scheduler
