#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/pipeline/bounds/least_costs.h"

namespace hios::scheduler::pipeline {

/// The side of a boundary on which a vertex is: in the blocks up to it, after it, or either.
enum class Side : std::uint8_t { kOpen, kBefore, kAfter };

/// The sides that a period permits in consecutive blocks: by boundary (one after each block but the
/// last) and vertex.
struct BoundaryWindows {
  std::vector<std::vector<Side>> sides;
  bool impossible = false;  ///< no blocks have that period
};

/// Computes sides that hold for all consecutive blocks, one a device, each of at most `period_ms`.
/// A vertex is after a boundary if otherwise the blocks before it would have too much: all its
/// predecessors and all vertices that must be there, at their least work, plus tensors that surely
/// cross the boundary. Likewise in the other direction. Repeated until nothing changes. O(blocks ·
/// vertices · (vertices + tensors)) a round.
BoundaryWindows boundary_windows(const LeastCosts& costs, double period_ms);

}  // namespace hios::scheduler::pipeline
