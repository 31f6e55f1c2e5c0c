#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "hios/model/layer.h"

/// Reductions over any axes of an NHWC tensor, for softmax, means and normalisations.
///
/// The axes, merged if neighbours are both kept or both reduced, become two lists. Results are
/// items, counted in memory order of the kept axes. If the innermost axis is kept (channels,
/// mostly), many items are neighbours, and a block of them is reduced together, value by value.
/// Otherwise each item is a block, and its run of neighbours is summed in lanes. If blocks are few
/// and long, each is cut into parts, whose results are combined in order. Blocks, lanes and parts
/// follow from the shape alone, and so does the order of every sum.
namespace hios::cpu {

/// Largest number of items in a block, and of lanes for a block of one item.
inline constexpr std::int64_t kBlockItems = 32;

class ReductionSpace {
 public:
  ReductionSpace(const Shape& shape, const Axes& axes);

  std::int64_t items() const { return items_; }
  std::int64_t reduced() const { return reduced_; }  ///< values reduced to one item
  std::int64_t blocks() const { return blocks_; }
  std::int64_t parts() const { return parts_; }

  struct Block {
    std::int64_t first_item, items;
    std::int64_t offset;  ///< the first item's first value
  };
  Block block(std::int64_t index) const;

  /// Calls visit(offset, count) for runs of values from `offset` on, run_stride() apart, until the
  /// reduced values [begin, end) of an item have been visited. `offset` counts from the item's
  /// first value.
  template <class Visit>
  void for_runs(std::int64_t begin, std::int64_t end, Visit&& visit) const {
    while (begin < end) {
      std::int64_t outer = begin / run_.size;
      const std::int64_t skipped = begin - outer * run_.size;
      const std::int64_t count = std::min(run_.size - skipped, end - begin);
      std::int64_t offset = skipped * run_.stride;
      for (std::size_t i = outer_reduced_.size(); i-- > 0;) {
        offset += outer % outer_reduced_[i].size * outer_reduced_[i].stride;
        outer /= outer_reduced_[i].size;
      }
      visit(offset, count);
      begin += count;
    }
  }
  std::int64_t run_stride() const { return run_.stride; }
  /// Returns the first of an item's reduced values that belongs to part `part`.
  std::int64_t part_begin(std::int64_t part) const { return reduced_ * part / parts_; }

 private:
  struct Dimension {
    std::int64_t size, stride;
  };

  std::vector<Dimension> outer_kept_, outer_reduced_;  // outermost first
  Dimension run_{1, 1};                                // innermost reduced axis
  std::int64_t inner_items_ = 1;                       // kept innermost axis; 1: none
  std::int64_t items_ = 1, reduced_ = 1, blocks_ = 1, parts_ = 1;
};

/// Computes acc[j] = op.step(acc[j], value, centers[j]) for the values of part `part` of each item
/// j of the block; each begins as op.start. `centers`: kBlockItems of them. If the block is one
/// item, its values go through kBlockItems sums in turn, joined by op.join.
template <class Op>
void reduce_part(const ReductionSpace& space, const float* input,
                 const ReductionSpace::Block& block, std::int64_t part, const Op& op,
                 const double* centers, double* results) {
  const std::int64_t begin = space.part_begin(part), end = space.part_begin(part + 1);
  const std::int64_t stride = space.run_stride();
  const float* const first = input + block.offset;
  std::array<double, kBlockItems> acc;
  acc.fill(op.start);
  if (stride != 1 || block.items > 1) {
    const std::int64_t items = block.items;
    space.for_runs(begin, end, [&](std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        const float* const row = first + offset + i * stride;
        for (std::int64_t j = 0; j < items; ++j) acc[j] = op.step(acc[j], row[j], centers[j]);
      }
    });
    std::copy_n(acc.begin(), items, results);
    return;
  }
  const double center = centers[0];
  space.for_runs(begin, end, [&](std::int64_t offset, std::int64_t count) {
    const float* const run = first + offset;
    std::int64_t i = 0;
    for (; i + kBlockItems <= count; i += kBlockItems) {
      for (std::int64_t j = 0; j < kBlockItems; ++j) {
        acc[j] = op.step(acc[j], run[i + j], center);
      }
    }
    for (std::int64_t j = 0; i < count; ++i, ++j) acc[j] = op.step(acc[j], run[i], center);
  });
  double result = op.start;
  for (const double value : acc) result = op.join(result, value);
  *results = result;
}

// Operations for reduce_part.

struct AddUp {
  static constexpr double start = 0;
  static double step(double acc, float value, double) { return acc + value; }
  static double join(double a, double b) { return a + b; }
};
struct AddSquares : AddUp {
  static double step(double acc, float value, double) {
    return acc + static_cast<double>(value) * value;
  }
};
/// Adds the squared distances from the item's centre.
struct AddSquaredDistances : AddUp {
  static double step(double acc, float value, double center) {
    return acc + (value - center) * (value - center);
  }
};
/// The maximum; NaN stays NaN.
struct Greatest {
  static constexpr double start = -std::numeric_limits<double>::infinity();
  static double step(double acc, float value, double) { return join(acc, value); }
  static double join(double a, double b) { return a != a || b <= a ? a : b; }
};

}  // namespace hios::cpu
