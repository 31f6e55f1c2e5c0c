#pragma once

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "support/oracles/slow_simulator.h"

namespace hios::test {

/// The least latencies if links carry one tensor at a time.
struct ContendedOptimum {
  double first_ready_ms = 0;  ///< tensors are sent in the order in which they are ready
  double any_order_ms = 0;    ///< over every order of transfers
};

/// Returns the optima over every assignment of operators to devices, every order and every grouping
/// into stages and groups, within the devices' streams. Memory, `allowed` and `colocate` are
/// ignored; a device that cannot run an operator has infinite costs. For up to five operators.
ContendedOptimum contended_brute_force(const Graph& graph, const Platform& platform,
                                       const PlainCosts& costs, Contention contention);

}  // namespace hios::test
