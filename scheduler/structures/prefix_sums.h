#pragma once

#include <cstddef>
#include <vector>

namespace hios::scheduler {

/// One number per position, 0 at first, and the sum of all before a position: a Fenwick tree, O(log
/// n) each. Sums are rounded as they are added.
class PrefixSums {
 public:
  explicit PrefixSums(std::size_t positions = 0) : sums_(positions == 0 ? 0 : positions + 1, 0) {}

  /// Returns true if made for no positions.
  bool none() const { return sums_.empty(); }

  void add(std::size_t position, double value) {
    all_ += value;
    for (std::size_t i = position + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += value;
  }
  double before(std::size_t position) const {
    double sum = 0;
    for (std::size_t i = position; i > 0; i -= i & (~i + 1)) sum += sums_[i];
    return sum;
  }
  double from(std::size_t position) const { return all_ - before(position); }

 private:
  std::vector<double> sums_;
  double all_ = 0;
};

}  // namespace hios::scheduler
