#pragma once

#include <limits>

namespace hios::scheduler {

/// No limit, or the cost of something impossible, in the unit of what it is compared with.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A relative rounding error: sums of the same numbers in different orders differ by less.
inline constexpr double kRounding = 1e-9;

}  // namespace hios::scheduler
