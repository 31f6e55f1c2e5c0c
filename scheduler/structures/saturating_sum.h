#pragma once

#include <limits>

#include "hios/base/ids.h"

namespace hios::scheduler {

/// The largest number where the sum is more than that.
inline Bytes saturating_sum(Bytes a, Bytes b) {
  constexpr Bytes kMost = std::numeric_limits<Bytes>::max();
  return a > kMost - b ? kMost : a + b;
}

}  // namespace hios::scheduler
