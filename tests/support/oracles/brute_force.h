#pragma once

#include <limits>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"
#include "support/oracles/slow_simulator.h"

namespace hios::test {

/// A relative tolerance in comparisons with an oracle, which adds costs in another order.
inline constexpr double kOracleRounding = 1e-8;

struct BruteForceResult {
  double latency_ms = 0;
  Schedule schedule;
  std::size_t visited = 0;  ///< partial schedules
};

enum class Pruning {
  kNone,    ///< an exhaustive search
  kBounds,  ///< skips partial schedules that provably cannot become better than the best so far
};

/// Returns the optimum over every assignment of operators to devices, every order and every
/// grouping into stages and groups. It honours the devices' streams and memory, and equal
/// `colocate` labels. The latency is infinite if there is no such schedule, or none that is shorter
/// than `below_ms`. For up to eight operators.
BruteForceResult brute_force(const Graph& graph, const Platform& platform, const PlainCosts& costs,
                             Pruning pruning = Pruning::kBounds,
                             double below_ms = std::numeric_limits<double>::infinity());

}  // namespace hios::test
