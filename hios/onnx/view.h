#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hios/base/ids.h"
#include "hios/model/tensor.h"

/// Values of an ONNX graph while it becomes a model. Each is a strided view of a base, so operators
/// that only rearrange elements (Transpose, Reshape, Slice, …) move nothing. A layer that needs
/// another order in memory makes the LayerEmitter add a Move.
namespace hios::onnx {

using Dims = std::vector<std::int64_t>;

/// A tensor of the draft; 0 is the model's input.
using DraftId = Id<struct DraftTag>;

/// Values that the file holds, or that are folded from such values. Integers of all widths are one
/// type, and so are floating-point numbers.
struct Constant {
  enum class Type { kFloat, kInteger, kBool };
  Type type = Type::kFloat;
  std::vector<float> floats;           ///< kFloat
  std::vector<std::int64_t> integers;  ///< kInteger and kBool
  // For messages; empty if the values are folded.
  std::string name = {};     ///< the tensor's, printable
  std::string element = {};  ///< the element type in the file: "INT8"

  double at(std::size_t index) const {
    return type == Type::kFloat ? static_cast<double>(floats[index])
                                : static_cast<double>(integers[index]);
  }
  std::size_t size() const { return type == Type::kFloat ? floats.size() : integers.size(); }
  Bytes size_bytes() const {
    return floats.size() * sizeof(float) + integers.size() * sizeof(std::int64_t);
  }
};

/// The number of values that one folded constant may have, however few it is made of. It suffices
/// for shapes, ranges, masks and small tables.
inline constexpr std::int64_t kFoldBudget = std::int64_t{1} << 22;

/// The end of a line about constants that the file leaves to compute.
inline constexpr const char* kSimplify = ": simplify the file, or name the input's size";

/// An ONNX value: element (i0, i1, …) is value offset + i0·strides[0] + i1·strides[1] + … of the
/// base.
struct View {
  std::variant<DraftId, std::shared_ptr<const Constant>> base;
  Dims dims;
  Dims strides;
  std::int64_t offset = 0;
  /// The type that a computed tensor has in the file; its values are floating-point numbers all the
  /// same, and truth values are 1 and 0.
  Constant::Type computed_type = Constant::Type::kFloat;
  /// The TensorProto::DataType of computed integers of 8 or 16 bits, which wrap; 0: any other.
  int computed_element = 0;

  Constant::Type type() const { return is_constant() ? constant().type : computed_type; }
  bool is_constant() const { return base.index() == 1; }
  DraftId tensor() const { return std::get<0>(base); }
  const Constant& constant() const { return *std::get<1>(base); }
  std::size_t rank() const { return dims.size(); }
};

/// Returns the product of the extents. Throws InputError beyond 2^40 values or 64 dimensions.
std::int64_t elements(const Dims& dims);

/// Returns row-major strides.
Dims dense_strides(const Dims& dims);

/// Returns the axes of an image (N, C, H, W) in the order of memory (NHWC); for other ranks, the
/// row-major order.
std::vector<std::size_t> memory_order(std::size_t rank);

/// Returns the view of a whole base whose axes lie in this order, outermost first.
View dense_view(std::variant<DraftId, std::shared_ptr<const Constant>> base, const Dims& dims,
                std::span<const std::size_t> order);

/// Returns true if the view is the whole base, with its axes in this order. `size`: values in the
/// base.
bool lies_dense(const View& view, std::span<const std::size_t> order, std::int64_t size);
/// Returns the order of axes in which the view is its whole base, if there is one. Axes of one
/// element are as in memory_order() where that order fits.
std::optional<std::vector<std::size_t>> dense_order(const View& view, std::int64_t size);
/// Returns the order in which a tensor's axes can be read without a move, if there is one. The base
/// may hold more values after those of the view.
std::optional<std::vector<std::size_t>> order_in_memory(const View& view);
/// Returns order_in_memory(), or memory_order() where there is none.
std::vector<std::size_t> reading_order(const View& view);

View transpose(const View& view, std::span<const std::size_t> axes);
/// Returns `count` elements of an axis from `start`, every `step`-th; `step` may be negative.
View slice(const View& view, std::size_t axis, std::int64_t start, std::int64_t count,
           std::int64_t step);
/// Broadcasts as ONNX does, to dims of the same rank or more. Throws InputError for extents that
/// do not fit.
View expand(const View& view, const Dims& dims);
/// Returns the same elements, in row-major order, under other dims; empty if no view can do that.
std::optional<View> reshape(const View& view, const Dims& dims);
View insert_axis(const View& view, std::size_t axis);
/// REQUIRES: the axis has one element.
View remove_axis(const View& view, std::size_t axis);

/// Returns the number of values of a constant that is made of others, the largest of which has
/// `largest` values. Throws InputError if they are more than these and more than kFoldBudget.
std::int64_t fold_size(const Dims& dims, std::int64_t largest);

// The elements of a constant, row-major in this order of axes. Throw InputError as fold_size()
// does.
std::vector<std::int64_t> integers_of(const View& view);
/// Throws InputError, too, unless they are floating-point numbers: ONNX converts no integers, so
/// they would be the codes of quantised numbers, say.
std::vector<float> floats_of(const View& view, std::span<const std::size_t> order);
std::vector<float> floats_of(const View& view);
/// Converts integers and truth values.
std::vector<float> converted_to_floats(const View& view, std::span<const std::size_t> order);

/// Calls visit(index in the base) for each element, row-major in this order of axes.
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

/// Rounds towards zero and clamps to the range of int64; NaN becomes 0.
std::int64_t to_integer(double value);

/// Returns the extents of two views of equal rank along these axes, adjacent axes merged where both
/// views have them or the same one broadcasts. Empty if more than `most` are left. REQUIRES: each
/// two extents are equal, or one is 1.
std::optional<std::pair<Dims, Dims>> joined_extents(const View& a, const View& b,
                                                    std::span<const std::size_t> axes,
                                                    std::size_t most);

/// Extents of which adjacent ones are merged.
struct MergedAxes {
  Dims extents;
  std::vector<bool> chosen;  ///< by extent
};
/// Returns the extents in this order of axes, adjacent ones merged that are both chosen, or both
/// not.
MergedAxes merged_axes(const Dims& dims, std::span<const std::size_t> order,
                       const std::vector<bool>& chosen);

/// Returns extents in this order of axes. More than four become four: the first, the product of
/// those between, and the last two.
Dims extents_in(const Dims& dims, std::span<const std::size_t> order);
/// Returns extents, outermost in memory first, as a Shape: (C), (N, C), (N, W, C) or (N, H, W, C).
/// REQUIRES: at most four extents.
Shape shape_of(std::span<const std::int64_t> extents);
/// Returns the axis of the Shape that the k-th of `count` extents becomes.
Axis axis_of(std::size_t k, std::size_t count);

}  // namespace hios::onnx
