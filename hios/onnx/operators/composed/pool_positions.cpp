// Part of hios/onnx/operators/windows.h: the second output of MaxPool, which has the position of
// each maximum, and MaxUnpool, which puts values back there. A position is that of a value in the
// whole input, (N, C, H, W) row by row. It is the sum of that of the window and of the offset in
// the window of its first largest value (a TopK of one along the window's values).
#include <algorithm>
#include <limits>

#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"
#include "hios/onnx/operators/windows.h"

namespace hios::onnx {
namespace {

using Placed = Binary::Function;

/// Steps between neighbours of an image along height and width.
struct Steps {
  std::int64_t h, w;
};

/// Returns a constant with a value for each index of two axes.
template <class Value>
View counted(const Dims& dims, std::int64_t rows, std::int64_t columns, const Value& value) {
  Constant numbers;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      numbers.floats.push_back(static_cast<float>(value(i, j)));
  }
  return constant_view(std::move(numbers), dims);
}

/// Returns the images of (N, C, H, W) that lie before each one, as many values each.
View images_before(const Dims& dims, std::int64_t size) {
  return counted({dims[0], dims[1], 1, 1}, dims[0], dims[1],
                 [&](std::int64_t n, std::int64_t c) { return (n * dims[1] + c) * size; });
}

/// Returns the image with the padding that windows at so many positions read.
View padded_for(LayerEmitter& emitter, const View& x, std::size_t axis, std::int64_t positions,
                std::int64_t before, std::int64_t stride, std::int64_t reach) {
  const std::int64_t end = (positions - 1) * stride + reach - before - x.dims[axis];
  return padded_along(emitter, x, axis, before, std::max<std::int64_t>(0, end),
                      -std::numeric_limits<float>::infinity());
}

/// Returns each value of an image `h` times along its height and `w` times along its width.
View repeated(LayerEmitter& emitter, const View& x, const Extent& times) {
  const Dims& dims = x.dims;
  const View apart = insert_axis(insert_axis(x, 4), 3);
  const View wide = expand(apart, {dims[0], dims[1], dims[2], times.h, dims[3], times.w});
  return reshape_to(emitter, wide, {dims[0], dims[1], dims[2] * times.h, dims[3] * times.w});
}

/// Returns the extents of MaxUnpool's output: those of its windows, or those that the node gives.
Dims unpooled_dims(const Node& node, const Dims& dims, const Window& window) {
  const auto extent = [](std::int64_t count, std::int64_t kernel, std::int64_t stride) {
    return (count - 1) * stride + kernel;
  };
  const Dims least{dims[0], dims[1], extent(dims[2], window.kernel.h, window.stride.h),
                   extent(dims[3], window.kernel.w, window.stride.w)};
  if (!node.has(2)) return least;
  Dims wanted = node.integers(2);
  if (node.input(0).rank() == 3 && wanted.size() == 3) wanted.insert(wanted.begin() + 2, 1);
  if (wanted.size() != 4 || wanted[0] != least[0] || wanted[1] != least[1] ||
      wanted[2] < least[2] || wanted[3] < least[3]) {
    node.fail("its output_shape must have its batch and channels, and room for its windows");
  }
  return wanted;
}

/// Puts each value into its window's part of the output, at its position; zeros lie elsewhere.
Views unpool(LayerEmitter& emitter, const Node& node) {
  const std::size_t rank = node.input(0).rank();
  if (node.input(1).dims != node.input(0).dims) node.fail("needs a position for each value");
  if (node.input(0).is_constant() || node.input(1).is_constant())
    node.fail("takes values and indices that the network computes, not constants");
  const View x = as_image(emitter, node.input(0)), at = as_image(emitter, node.input(1));
  const Window window = window_of(node, rank, {x.dims[2], x.dims[3]}, {});
  if (window.stride.h < window.kernel.h || window.stride.w < window.kernel.w ||
      window.padding != Padding{} || window.dilation != Extent{}) {
    node.fail("is not computed for windows that overlap, nor with padding or dilation");
  }
  const Dims dims = unpooled_dims(node, x.dims, window);
  if (!has_exact_positions(dims)) node.fail("makes more than 2^24 values");
  const auto spread = [&](View view, float beyond) {
    // One window along an axis may have any stride.
    view = repeated(emitter, view,
                    {std::min(window.stride.h, dims[2]), std::min(window.stride.w, dims[3])});
    for (const std::size_t axis : {std::size_t{2}, std::size_t{3}}) {
      view = slice(view, axis, 0, std::min(view.dims[axis], dims[axis]), 1);
      view = padded_along(emitter, view, axis, 0, dims[axis] - view.dims[axis], beyond);
    }
    return view;
  };
  const View own = counted({1, 1, dims[2], dims[3]}, dims[2], dims[3],
                           [&](std::int64_t i, std::int64_t j) { return i * dims[3] + j; });
  const View in_image = combine(emitter, Placed::kSub, at, images_before(dims, dims[2] * dims[3]));
  const View here = combine(emitter, Placed::kEqual, spread(in_image, -1), own);
  return {as_rank(combine(emitter, Placed::kKeepIf, here, spread(x, 0)), rank)};
}

}  // namespace

bool has_exact_positions(const Dims& dims) { return elements(dims) <= std::int64_t{1} << 24; }

View pool_positions(LayerEmitter& emitter, const View& x, const Window& window, const Extent& out,
                    bool by_columns) {
  const std::int64_t height = x.dims[2], width = x.dims[3];
  const Steps step = by_columns ? Steps{1, height} : Steps{width, 1};
  View image = padded_for(emitter, x, 2, out.h, window.padding.begin.h, window.stride.h,
                          (window.kernel.h - 1) * window.dilation.h + 1);
  image = padded_for(emitter, image, 3, out.w, window.padding.begin.w, window.stride.w,
                     (window.kernel.w - 1) * window.dilation.w + 1);
  View taps = windows_along(image, 2, window.kernel.h, window.stride.h, window.dilation.h);
  taps = windows_along(taps, 3, window.kernel.w, window.stride.w, window.dilation.w);
  const std::int64_t count = window.kernel.h * window.kernel.w;
  taps = reshape_to(emitter, taps, {x.dims[0], x.dims[1], out.h, out.w, count});
  const View tap = remove_axis(top_along(emitter, taps, 4, {1, true, true}), 4);
  const View in_window =
      counted({count}, window.kernel.h, window.kernel.w, [&](std::int64_t i, std::int64_t j) {
        return i * window.dilation.h * step.h + j * window.dilation.w * step.w;
      });
  const View starts =
      counted({1, 1, out.h, out.w}, out.h, out.w, [&](std::int64_t i, std::int64_t j) {
        return (i * window.stride.h - window.padding.begin.h) * step.h +
               (j * window.stride.w - window.padding.begin.w) * step.w;
      });
  const View in_image =
      combine(emitter, Placed::kAdd, gather_by_values(emitter, in_window, tap, 0), starts);
  return combine(emitter, Placed::kAdd, in_image, images_before(x.dims, height * width));
}

void add_unpools(Operators& operators) {
  operators["MaxUnpool"] = {.emit = unpool, .attributes = {.read = window_attributes({})}};
}

}  // namespace hios::onnx
