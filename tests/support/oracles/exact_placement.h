#pragma once

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "support/oracles/slow_simulator.h"

namespace hios::test {

struct ExactPlacement {
  double latency_ms = 0;
  std::size_t assignments = 0;  ///< of operators to devices, within memory, labels and `allowed`
};

/// The least latency over every assignment of operators to devices and every order on them, one
/// operator at a time: for devices of one stream, and where memory leaves few assignments, some
/// hundred thousand at most. Infinity if there is none. For up to 20 operators. brute_force() says
/// the same where it comes to an end.
ExactPlacement exact_placement(const Graph& graph, const Platform& platform, const Prices& prices);

}  // namespace hios::test
