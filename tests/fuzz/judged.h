#pragma once

#include "hios/evaluate/cost_model.h"

namespace hios::test {

/// Runs every algorithm on a small problem and promises what oracle_test.cpp asks of them: valid
/// schedules, the latency of a second simulator, no lower bound above it. An algorithm may refuse.
void judge_algorithms(const Graph& graph, const Platform& platform, const CostModel& costs);

/// Few enough operators and edges for that.
bool is_small(const Graph& graph);

}  // namespace hios::test
