#pragma once

#include <limits>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "support/oracles/slow_simulator.h"

namespace hios::test {

/// Returns the least latency over every assignment of operators to devices, every order of
/// operators and every order of transfers, if links or ports carry one tensor at a time. One
/// operator a stage. Infinite if there is none shorter than `below_ms`. For up to eight operators.
/// REQUIRES: all edges of an operator take equally long; the platform has contention.
double least_contended_ms(const Graph& graph, const Platform& platform, const PlainCosts& costs,
                          double below_ms = std::numeric_limits<double>::infinity());

}  // namespace hios::test
