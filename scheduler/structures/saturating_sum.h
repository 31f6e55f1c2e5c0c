#pragma once

#include <limits>

#include "hios/base/ids.h"

namespace hios::scheduler {

/// Returns a + b, or the largest number if the sum exceeds it.
inline Bytes saturating_sum(Bytes a, Bytes b) {
  constexpr Bytes kMost = std::numeric_limits<Bytes>::max();
  return a > kMost - b ? kMost : a + b;
}

}  // namespace hios::scheduler
