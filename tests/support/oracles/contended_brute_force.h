#pragma once

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "support/oracles/slow_simulator.h"

namespace hios::test {

/// The least latencies where links carry one tensor at a time.
struct ContendedOptimum {
  double first_ready_ms = 0;  ///< with the tensor first that is ready first
  double any_order_ms = 0;    ///< with every order of transfers
};

/// Over every assignment of operators to devices, every order and every grouping into stages and
/// groups, within the devices' streams; memory, `allowed` and `colocate` are not looked at, a
/// device that cannot run an operator has infinite prices. For up to five operators.
ContendedOptimum contended_brute_force(const Graph& graph, const Platform& platform,
                                       const Prices& prices, Contention contention);

}  // namespace hios::test
