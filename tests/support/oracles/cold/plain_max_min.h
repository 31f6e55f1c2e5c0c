#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hios::test {

/// A flow that moves bytes: its buses, and its own limit in bytes per ms.
struct PlainFlow {
  std::vector<std::size_t> over;
  double limit = 0;
};

/// Returns the max-min fair rates in bytes per ms: all rise together in steps, until the next flow
/// is at its limit or the next bus is full. `capacity`: by bus, bytes per ms.
std::vector<double> plain_max_min_rates(std::span<const double> capacity,
                                        std::span<const PlainFlow> flows);

}  // namespace hios::test
