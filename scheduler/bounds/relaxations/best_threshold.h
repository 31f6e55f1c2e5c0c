#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace hios::scheduler {

/// Returns the minimum over k = 0 … count of max(floor, share(k), pay(k)): the first k operators
/// share a device, which takes share(k), and the others pay for a transfer, pay(k) at most.
/// REQUIRES: pay does not rise with k, share does not fall. Calls pay(k) for k < count only, and
/// share O(log count) times.
template <class Pay, class Share>
double best_threshold(std::size_t count, double floor, Pay pay, Share share) {
  // Find the first k with share(k) >= pay(k): it, or one fewer, is best.
  std::size_t low = 0, high = count;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (pay(middle) <= floor || share(middle) >= pay(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const double one_fewer = low > 0 ? pay(low - 1) : std::numeric_limits<double>::infinity();
  return std::max(floor, std::min(one_fewer, share(low)));
}

}  // namespace hios::scheduler
