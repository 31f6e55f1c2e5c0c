#pragma once

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "support/oracles/slow_simulator.h"

namespace hios::test {

struct ExactPlacement {
  double latency_ms = 0;
  /// assignments of operators to devices that honour memory, labels and `allowed`
  std::size_t assignments = 0;
};

/// Returns the least latency over every assignment of operators to devices and every order on them,
/// one operator at a time. For devices of one stream, and memory that leaves at most some hundred
/// thousand assignments. Infinity if there is none. For up to 20 operators. brute_force() returns
/// the same on problems small enough for it.
ExactPlacement exact_placement(const Graph& graph, const Platform& platform,
                               const PlainCosts& costs);

}  // namespace hios::test
