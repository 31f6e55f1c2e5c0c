#pragma once

#include <cstddef>

namespace hios {

/// The number of operators, pairs of ranks, stages or tensors that a call was to measure, and the
/// number that it measured.
struct Measured {
  std::size_t missing = 0;  ///< not in the profile before, equal ones counted once
  std::size_t done = 0;     ///< the number of measured ones
  bool stopped = false;     ///< by Protocol::stop, on all ranks
};

}  // namespace hios
