#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "hios/base/ids.h"
#include "hios/model/tensor.h"

/// Values of an ONNX graph while it becomes a model: each is a view of memory, so that operators
/// that only move values (Transpose, Reshape, Slice, …) cost nothing until somebody needs another
/// order in memory.
namespace hios::onnx {

using Dims = std::vector<std::int64_t>;

/// A tensor of the model to be; 0 is its input.
using DraftId = Id<struct DraftTag>;

/// Values that the file gives, or that follow from it. All widths of whole numbers are one type,
/// and so are those of floating-point numbers.
struct Constant {
  enum class Type { kFloat, kInteger, kBool };
  Type type = Type::kFloat;
  std::vector<float> floats;           ///< kFloat
  std::vector<std::int64_t> integers;  ///< the others

  double at(std::size_t index) const {
    return type == Type::kFloat ? static_cast<double>(floats[index])
                                : static_cast<double>(integers[index]);
  }
  std::size_t size() const { return type == Type::kFloat ? floats.size() : integers.size(); }
};

/// As many values as may follow from smaller constants: shapes, ranges, masks and small tables.
inline constexpr std::int64_t kFoldBudget = std::int64_t{1} << 22;

/// An ONNX value: element (i0, i1, …) lies offset + i0·strides0 + i1·strides1 + … values behind the
/// begin of its base.
struct View {
  std::variant<DraftId, std::shared_ptr<const Constant>> base;
  Dims dims;
  Dims strides;
  std::int64_t offset = 0;

  bool is_constant() const { return base.index() == 1; }
  DraftId tensor() const { return std::get<0>(base); }
  const Constant& constant() const { return *std::get<1>(base); }
  std::size_t rank() const { return dims.size(); }
};

/// Throws InputError where the product leaves 2^40 values, or for more than 64 dimensions.
std::int64_t elements(const Dims& dims);

/// Row-major.
Dims dense_strides(const Dims& dims);

/// The axes of an image (N, C, H, W) as they lie in memory, or, of other ranks, in their own order.
std::vector<std::size_t> memory_order(std::size_t rank);

/// A whole value in memory, its axes in this order, outermost first.
View dense_view(std::variant<DraftId, std::shared_ptr<const Constant>> base, const Dims& dims,
                std::span<const std::size_t> order);

/// True if the view is its base's memory from the begin, its axes in this order. `size`: of the
/// base, in values.
bool lies_dense(const View& view, std::span<const std::size_t> order, std::int64_t size);
/// In which order it lies densely, if it does in any; axes of one value stand where memory_order
/// has them, as far as that can be told.
std::optional<std::vector<std::size_t>> dense_order(const View& view, std::int64_t size);
/// In which order a tensor's axes can be read without moving its values, if there is one, though
/// more may lie behind them.
std::optional<std::vector<std::size_t>> order_in_memory(const View& view);
/// The same, or where there is none, as values of this rank usually lie.
std::vector<std::size_t> reading_order(const View& view);

View transpose(const View& view, std::span<const std::size_t> axes);
/// `count` elements of an axis, from `start`, every `step`-th; `step` may be negative.
View slice(const View& view, std::size_t axis, std::int64_t start, std::int64_t count,
           std::int64_t step);
/// ONNX's broadcast to dims of the same rank or more. Throws InputError where it cannot be.
View expand(const View& view, const Dims& dims);
/// The same elements in row-major order under other dims; empty where that is no view.
std::optional<View> reshape(const View& view, const Dims& dims);
View insert_axis(const View& view, std::size_t axis);
/// REQUIRES: the axis has one element.
View remove_axis(const View& view, std::size_t axis);

/// The elements of a constant, row-major in this order of axes. Throws InputError where they are
/// more than the constant has, and than kFoldBudget.
std::vector<std::int64_t> integers_of(const View& view);
std::vector<float> floats_of(const View& view, std::span<const std::size_t> order);
std::vector<float> floats_of(const View& view);

/// Calls visit(position) for each element, row-major in this order of axes.
template <class Visit>
void each_position(const View& view, std::span<const std::size_t> order, Visit&& visit) {
  for (const std::int64_t extent : view.dims) {
    if (extent == 0) return;
  }
  Dims index(order.size(), 0);
  std::int64_t at = view.offset;
  for (;;) {
    visit(at);
    std::size_t k = order.size();
    for (; k > 0; --k) {
      const std::size_t axis = order[k - 1];
      at += view.strides[axis];
      if (++index[k - 1] < view.dims[axis]) break;
      at -= view.dims[axis] * view.strides[axis];
      index[k - 1] = 0;
    }
    if (k == 0) return;
  }
}

/// Towards zero; what is beyond the range is its end, and what is no number 0.
std::int64_t to_integer(double value);

/// Extents in memory, outermost first, as a Shape: one is channels, two are images and channels,
/// three images, width and channels, four all. REQUIRES: at most four.
Shape shape_of(std::span<const std::int64_t> extents);
/// Which axis of the Shape the k-th of `count` extents becomes.
Axis axis_of(std::size_t k, std::size_t count);

}  // namespace hios::onnx
