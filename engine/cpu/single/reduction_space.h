#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "hios/model/layer.h"

/// Reductions over any axes of an NHWC tensor, for softmax, means and normalisations.
///
/// The axes, merged where neighbours are both kept or both reduced, become two lists. What is kept
/// is counted in items, in memory order. Where the innermost axis is kept (channels, mostly), so
/// many items lie side by side that a block of them is reduced together, value by value; else an
/// item is a block of its own, and its run of neighbours is summed in lanes. Where blocks are few
/// and long, each is cut into parts, whose results are put together in order. Blocks, lanes and
/// parts follow from the shape alone, so that the order of every sum does.
namespace hios::cpu {

/// Items of a block at most, and lanes of one that stands alone.
inline constexpr std::int64_t kBlockItems = 32;

class ReductionSpace {
 public:
  ReductionSpace(const Shape& shape, const Axes& axes);

  std::int64_t items() const { return items_; }
  std::int64_t reduced() const { return reduced_; }  ///< values of an item
  std::int64_t blocks() const { return blocks_; }
  std::int64_t parts() const { return parts_; }

  struct Block {
    std::int64_t first_item, items;
    std::int64_t offset;  ///< of the first item's first value
  };
  Block block(std::int64_t index) const;

  /// visit(offset, count): values from `offset` on, run_stride() apart, until the reduced values
  /// [begin, end) of an item have been seen. `offset` counts from the item's first value.
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
  /// Of an item's reduced values, those of part `part`.
  std::int64_t part_begin(std::int64_t part) const { return reduced_ * part / parts_; }

 private:
  struct Dimension {
    std::int64_t size, stride;
  };

  std::vector<Dimension> outer_kept_, outer_reduced_;  // outermost first
  Dimension run_{1, 1};                                // innermost of the reduced
  std::int64_t inner_items_ = 1;                       // neighbours; 1: none are kept
  std::int64_t items_ = 1, reduced_ = 1, blocks_ = 1, parts_ = 1;
};

/// acc[j] = op.step(acc[j], value, centers[j]) for the values of part `part` of each item j of the
/// block; they begin as op.start. `centers`: kBlockItems of them. Where the block is one item, its
/// values go through kBlockItems sums in turn, joined by op.join.
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
/// Of the distances from the item's centre.
struct AddSquaredDistances : AddUp {
  static double step(double acc, float value, double center) {
    return acc + (value - center) * (value - center);
  }
};
/// What is not a number stays so.
struct Greatest {
  static constexpr double start = -std::numeric_limits<double>::infinity();
  static double step(double acc, float value, double) { return join(acc, value); }
  static double join(double a, double b) { return a != a || b <= a ? a : b; }
};

}  // namespace hios::cpu
