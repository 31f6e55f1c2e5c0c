#pragma once

#include "scheduler/algorithms/hios/longest_path.h"

namespace hios::test {

/// map_longest_paths() without a shortcut: every path is searched and every trial timed from the
/// start.
Schedule plain_longest_paths(const Graph& graph, const CostModel& costs,
                             const scheduler::LongestPathOptions& options);

}  // namespace hios::test
