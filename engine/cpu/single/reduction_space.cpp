#include "engine/cpu/single/reduction_space.h"

#include <algorithm>

namespace hios::cpu {
namespace {

/// Number of blocks and parts together that keeps a machine's cores busy.
constexpr std::int64_t kEnoughParts = 64;
/// Values below which a part costs more than it gains.
constexpr std::int64_t kMinPartValues = 4096;

}  // namespace

ReductionSpace::ReductionSpace(const Shape& shape, const Axes& axes) {
  struct MergedAxis {
    std::int64_t size;
    bool reduced;
    std::int64_t stride = 1;
  };
  const MergedAxis all[] = {
      {shape.n, axes.n}, {shape.h, axes.h}, {shape.w, axes.w}, {shape.c, axes.c}};
  std::vector<MergedAxis> merged;  // outermost first
  for (const MergedAxis& axis : all) {
    if (axis.size == 1) continue;
    if (!merged.empty() && merged.back().reduced == axis.reduced) {
      merged.back().size *= axis.size;
    } else {
      merged.push_back(axis);
    }
  }
  for (std::size_t i = merged.size(); i-- > 1;) {
    merged[i - 1].stride = merged[i].stride * merged[i].size;
  }
  for (const MergedAxis& axis : merged) {
    (axis.reduced ? outer_reduced_ : outer_kept_).push_back({axis.size, axis.stride});
    (axis.reduced ? reduced_ : items_) *= axis.size;
  }
  if (!outer_reduced_.empty()) {
    run_ = outer_reduced_.back();
    outer_reduced_.pop_back();
  }
  if (!merged.empty() && !merged.back().reduced) {
    inner_items_ = outer_kept_.back().size;
    outer_kept_.pop_back();
  }
  const std::int64_t inner_blocks = (inner_items_ + kBlockItems - 1) / kBlockItems;
  blocks_ = items_ / inner_items_ * inner_blocks;
  const std::int64_t block_values = reduced_ * std::min(inner_items_, kBlockItems);
  parts_ = std::clamp<std::int64_t>(
      std::min({kEnoughParts / blocks_, block_values / kMinPartValues, reduced_}), 1, kEnoughParts);
}

ReductionSpace::Block ReductionSpace::block(std::int64_t index) const {
  const std::int64_t inner_blocks = (inner_items_ + kBlockItems - 1) / kBlockItems;
  const std::int64_t inner = index % inner_blocks * kBlockItems;
  std::int64_t outer = index / inner_blocks;
  Block block{outer * inner_items_ + inner, std::min(kBlockItems, inner_items_ - inner), inner};
  for (std::size_t i = outer_kept_.size(); i-- > 0;) {
    block.offset += outer % outer_kept_[i].size * outer_kept_[i].stride;
    outer /= outer_kept_[i].size;
  }
  return block;
}

}  // namespace hios::cpu
