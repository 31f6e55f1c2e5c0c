#pragma once

#include <cstdint>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

namespace hios::test {

struct TightProblem {
  Graph graph;
  Platform platform;
};

/// Returns a random graph of `operators` operators on two or three devices of one stream, whose
/// memory is the need of a random placement times 1 + spare. Also random: few sizes or many, a few
/// large operators among small ones, the number of edges, the cost of transfers, devices of
/// different speed, devices of equal or very unequal memory. Some problems have labels and
/// operators that not every device may run. The same seed gives the same problem but for the spare
/// memory.
TightProblem tight_problem(std::size_t operators, double spare, std::uint64_t seed);

}  // namespace hios::test
