#pragma once

#include "scheduler/algorithms/hios/longest_path.h"

namespace hios::test {

/// Computes map_longest_paths() without shortcuts: every path is searched, and every trial is
/// timed, from scratch.
Schedule plain_longest_paths(const Graph& graph, const CostModel& costs,
                             const scheduler::LongestPathOptions& options);

}  // namespace hios::test
