#include "engine/cuda/operators/single/views.h"

#include <stdexcept>

namespace hios::cuda {
namespace {

std::int64_t values_of(const std::vector<Move::Dimension>& dimensions) {
  std::int64_t values = 1;
  for (const Move::Dimension& dimension : dimensions) values *= dimension.size;
  return values;
}

}  // namespace

View view_of(const std::vector<Move::Dimension>& dimensions, std::int64_t offset) {
  std::vector<Move::Dimension> merged;
  for (const Move::Dimension& dimension : dimensions) {
    if (dimension.size == 1) continue;
    if (!merged.empty() && merged.back().stride == dimension.stride * dimension.size) {
      merged.back() = {merged.back().size * dimension.size, dimension.stride};
    } else {
      merged.push_back(dimension);
    }
  }
  if (merged.empty()) merged.push_back({1, 0});
  if (merged.size() > View::kMaxDimensions) throw std::logic_error("a view of too many dimensions");
  View view;
  view.dimensions = static_cast<int>(merged.size());
  view.offset = static_cast<int>(offset);
  for (std::size_t d = 0; d < merged.size(); ++d) {
    view.sizes[d] = static_cast<int>(merged[d].size);
    view.strides[d] = static_cast<int>(merged[d].stride);
  }
  return view;
}

View broadcast_view(const Shape& operand, const Shape& output) {
  const auto along = [](std::int64_t extent, std::int64_t of_output, std::int64_t stride) {
    return Move::Dimension{of_output, extent == 1 ? 0 : stride};
  };
  return view_of({along(operand.n, output.n, operand.h * operand.w * operand.c),
                  along(operand.h, output.h, operand.w * operand.c),
                  along(operand.w, output.w, operand.c), along(operand.c, output.c, 1)});
}

Boxes boxes_of(const Shape& shape, const Axes& axes, std::int64_t groups) {
  std::vector<Move::Dimension> kept, inside;
  const auto add = [&](bool reduced, std::int64_t size, std::int64_t stride) {
    (reduced ? inside : kept).push_back({size, stride});
  };
  add(axes.n, shape.n, shape.h * shape.w * shape.c);
  add(axes.h, shape.h, shape.w * shape.c);
  add(axes.w, shape.w, shape.c);
  if (groups > 0) {
    add(false, groups, shape.c / groups);
    add(true, shape.c / groups, 1);
  } else {
    add(axes.c, shape.c, 1);
  }
  Boxes boxes;
  boxes.count = static_cast<int>(values_of(kept));
  boxes.size = static_cast<int>(values_of(inside));
  boxes.first = view_of(kept);
  boxes.inside = view_of(inside);
  // Not by the extents, which a shard may have smaller: they must not change the order of a sum.
  boxes.neighbours = !axes.c && groups == 0;
  return boxes;
}

}  // namespace hios::cuda
