#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace hios::scheduler {

/// The least over k = 0 … count of max(floor, share(k), pay(k)): the first k choices share a device
/// and take share(k), the others pay, pay(k) at most. REQUIRES: pay does not rise with k, share
/// does not fall; pay(k) is asked for k < count only. Asks share O(log count) times.
template <class Pay, class Share>
double share_or_pay(std::size_t count, double floor, Pay pay, Share share) {
  // The first k whose sharing takes no less than the next payment: it, or one fewer, is best.
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
