#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

namespace hios::scheduler {

/// One number per position, −infinity at first, and the maximum of all or of a suffix. A binary
/// tree over the positions: O(log n) for all functions but greatest(), O(1).
class MaxTree {
 public:
  static constexpr double kLeast = -std::numeric_limits<double>::infinity();

  explicit MaxTree(std::size_t positions)
      : leaves_(std::bit_ceil(std::max<std::size_t>(1, positions))), nodes_(2 * leaves_, kLeast) {}

  void set(std::size_t position, double value) {
    std::size_t node = leaves_ + position;
    nodes_[node] = value;
    while (node > 1) {
      node /= 2;
      const double greatest = std::max(nodes_[2 * node], nodes_[2 * node + 1]);
      if (nodes_[node] == greatest) break;
      nodes_[node] = greatest;
    }
  }

  double greatest() const { return nodes_[1]; }

  /// Returns the first of the positions with the greatest number.
  std::size_t first_greatest() const {
    std::size_t node = 1;
    while (node < leaves_) node = nodes_[2 * node] == nodes_[1] ? 2 * node : 2 * node + 1;
    return node - leaves_;
  }

  /// Returns the greatest number at position `from` or after it.
  double greatest_from(std::size_t from) const {
    if (from >= leaves_) return kLeast;
    std::size_t node = leaves_ + from;
    double greatest = nodes_[node];
    for (; node > 1; node /= 2) {
      if (node % 2 == 0) greatest = std::max(greatest, nodes_[node + 1]);
    }
    return greatest;
  }

 private:
  std::size_t leaves_;
  std::vector<double> nodes_;  // node i is the parent of 2i and 2i + 1; root 1, leaves at the end
};

}  // namespace hios::scheduler
