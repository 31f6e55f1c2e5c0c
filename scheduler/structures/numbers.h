#pragma once

#include <limits>

namespace hios::scheduler {

/// No limit, or the cost of something impossible, in the unit of what it is compared with.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Relative to a latency or a period: sums of the same times in different orders differ by less.
inline constexpr double kRounding = 1e-9;

}  // namespace hios::scheduler
