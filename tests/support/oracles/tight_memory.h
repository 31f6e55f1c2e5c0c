#pragma once

#include <cstdint>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

namespace hios::test {

struct TightProblem {
  Graph graph;
  Platform platform;
};

/// A random graph of `operators` operators on two or three devices of one stream, whose memory is
/// what some placement by chance needs there, times 1 + spare. By chance, too: few sizes or many,
/// few large operators among small ones, how many edges, how expensive transfers are, devices that
/// differ in speed, devices of equal or very unequal memory; now and then labels and operators that
/// not every device may run. The same seed gives the same problem but for the spare memory.
TightProblem tight_problem(std::size_t operators, double spare, std::uint64_t seed);

}  // namespace hios::test
