#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/pipeline/bounds/least_costs.h"

namespace hios::scheduler::pipeline {

/// Whether the blocks up to a boundary hold a vertex.
enum class Side : std::uint8_t { kOpen, kBefore, kBehind };

/// What a period leaves open of blocks in a row: by boundary (one behind each block but the last)
/// and vertex.
struct BoundaryWindows {
  std::vector<std::vector<Side>> sides;
  bool impossible = false;  ///< no blocks have that period
};

/// What holds for all blocks in a row, one a device, each of at most `period_ms`: a vertex is
/// behind a boundary where what then is before it (all that precedes it, all that must be before)
/// is too much for the blocks before it: their work where it is least, and what they send behind
/// the boundary for sure; and the other way round. Repeated until nothing changes. O(blocks ·
/// vertices · (vertices + tensors)) a round.
BoundaryWindows boundary_windows(const LeastCosts& costs, double period_ms);

}  // namespace hios::scheduler::pipeline
