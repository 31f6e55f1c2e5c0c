#pragma once

#include "scheduler/algorithms/hios/intra_gpu.h"

namespace hios::test {

/// Computes parallelize() without shortcuts.
Schedule plain_parallelize(const Graph& graph, const CostModel& costs, const Schedule& schedule,
                           std::size_t window);

}  // namespace hios::test
