#pragma once

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"
#include "support/oracles/slow_simulator.h"

namespace hios::test {

struct BruteForceResult {
  double latency_ms = 0;
  Schedule schedule;
  std::size_t visited = 0;  ///< partial schedules
};

enum class Pruning {
  kNone,    ///< really everything
  kBounds,  ///< skips partial schedules that provably cannot become better than the best so far
};

/// The least latency over every assignment of operators to devices, every order and every grouping
/// into stages and groups, within the devices' streams and memory and with equal `colocate` labels
/// on one device; infinity if there is no such schedule. For up to eight operators.
BruteForceResult brute_force(const Graph& graph, const Platform& platform, const Prices& prices,
                             Pruning pruning = Pruning::kBounds);

}  // namespace hios::test
