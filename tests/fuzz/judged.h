#pragma once

#include "hios/evaluate/cost_model.h"

namespace hios::test {

/// Runs every algorithm on a small problem and checks what oracle_test.cpp checks: valid schedules,
/// the latency of a second simulator, no lower bound above it. An algorithm may refuse the problem.
void judge_algorithms(const Graph& graph, const Platform& platform, const CostModel& costs);

/// Returns true if a graph has few enough operators and edges for judge_algorithms().
bool is_small(const Graph& graph);

}  // namespace hios::test
