#include "hios/graph/cuts/rows.h"

#include <algorithm>

#include "hios/base/error.h"

namespace hios {
namespace {

/// The rows that a window reads, and those outside the image that it counts.
struct WindowRows {
  Rows reads;
  std::int64_t above = 0, below = 0;
};

template <class Window>
WindowRows window_rows(const Window& window, std::int64_t height, const Rows& rows) {
  const std::int64_t first = rows.begin * window.stride.h - window.padding.begin.h;
  const std::int64_t end = (rows.end - 1) * window.stride.h - window.padding.begin.h +
                           (window.kernel.h - 1) * window.dilation.h + 1;
  const WindowRows read{{std::max<std::int64_t>(first, 0), std::min(end, height)},
                        std::max<std::int64_t>(-first, 0),
                        std::max<std::int64_t>(end - height, 0)};
  if (read.reads.count() < 1) throw InputError("its rows " + to_string(rows) + " are padding only");
  return read;
}

struct OnRows {
  const Shape& input;
  const Shape& output;
  const Rows& rows;

  LayerOnRows operator()(const Conv& whole) const {
    Conv conv = whole;
    const WindowRows read = window_rows(whole, input.h, rows);
    conv.padding.begin.h = read.above;
    conv.padding.end.h = read.below;
    return {conv, read.reads};
  }
  LayerOnRows operator()(const Pool& whole) const {
    Pool pool = whole;
    const WindowRows read = window_rows(whole, input.h, rows);
    if (whole.count_padding && read.below > whole.padding.end.h) {
      throw InputError("its last window reaches beyond the padding that it counts");
    }
    pool.padding.begin.h = read.above;
    pool.padding.end.h = read.below;
    return {pool, read.reads};
  }
  LayerOnRows operator()(const Relu& kind) const { return {kind, rows}; }
  LayerOnRows operator()(const Sum& kind) const { return {kind, rows}; }
  LayerOnRows operator()(const Unary& kind) const { return {kind, rows}; }
  LayerOnRows operator()(const Concat& kind) const {
    if (kind.axis == Axis::kH) throw InputError("it joins rows");
    return {kind, rows};
  }
  LayerOnRows operator()(const Binary& kind) const {
    if (kind.constant && kind.constant->h != 1) throw InputError("its constant differs by row");
    return {kind, rows};
  }
  template <class Other>
  LayerOnRows operator()(const Other& kind) const {
    throw InputError(std::string(onnx_type(kind)) + " is not computed row by row, or not cut yet");
  }
};

}  // namespace

std::string to_string(const Rows& rows) {
  return '[' + std::to_string(rows.begin) + ", " + std::to_string(rows.end) + ')';
}

LayerOnRows on_rows(const LayerKind& kind, const Shape& input, const Shape& output,
                    const Rows& rows) {
  return std::visit(OnRows{input, output, rows}, kind);
}

}  // namespace hios
