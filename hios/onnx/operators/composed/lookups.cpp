// Part of hios/onnx/operators/families.h: Gather and GatherElements by indices that the input
// decides, and CumSum. A Gather is a layer that copies rows. A lookup of single elements is a sum
// of products with ones and zeros, with a one where the position equals the index. That is exact
// while the table holds no infinity and no NaN, which times 0 would spread. A running sum is a
// product with a triangle of ones.
#include <algorithm>
#include <cstdlib>

#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

using Looked = Binary::Function;

/// Values of the ones and zeros of one node: more would take a rank's memory.
constexpr std::int64_t kMostOnes = std::int64_t{1} << 28;
constexpr std::int64_t kMostExact = std::int64_t{1} << 24;

/// Returns 0, 1, 2, … along the last of `rank` axes.
View counting(std::int64_t count, std::size_t rank) {
  Constant numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.floats.push_back(static_cast<float>(i));
  Dims dims(rank, 1);
  dims.back() = count;
  return constant_view(std::move(numbers), dims);
}

/// Returns a further last axis with a 1 at each index; negative ones count from the end.
View ones_at(LayerEmitter& emitter, const View& indices, std::int64_t extent) {
  if (elements(indices.dims) > kMostOnes / extent) {
    emitter.fail("looks " + std::to_string(elements(indices.dims)) + " indices up among " +
                 std::to_string(extent) + " positions, more than 2^28 comparisons");
  }
  const View negative = combine(emitter, Looked::kLess, indices, number_view(0));
  const View from_end =
      combine(emitter, Looked::kMul, negative, number_view(static_cast<double>(extent)));
  const View at = combine(emitter, Looked::kAdd, indices, from_end);
  return combine(emitter, Looked::kEqual, insert_axis(at, at.rank()),
                 counting(extent, at.rank() + 1));
}

/// Returns the values as a matrix with a row for each position along the axis.
View as_rows(LayerEmitter& emitter, const View& x, std::size_t axis) {
  std::vector<std::size_t> order = own_axes(x.rank());
  const auto at = order.begin() + static_cast<std::ptrdiff_t>(axis);
  std::rotate(order.begin(), at, at + 1);
  const std::int64_t rows = x.dims[axis], count = elements(x.dims);
  if (count == 0) emitter.fail("looks up values of an empty tensor");
  return reshape_to(emitter, transpose(x, order), {rows, count / rows});
}

/// Returns the values of a constant table, row by row. Integers become numbers, exactly.
std::vector<float> table_values(LayerEmitter& emitter, const View& table) {
  if (table.type() == Constant::Type::kFloat) return floats_of(table);
  for (const std::int64_t value : integers_of(table)) {
    if (std::abs(value) > kMostExact) {
      emitter.fail("looks up integers beyond 2^24, which fp32 does not hold exactly");
    }
  }
  return converted_to_floats(table, own_axes(2));
}

Views running_sums(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const std::vector<std::int64_t> axes = node.integers(1);
  if (axes.size() != 1) node.fail("needs one axis");
  const std::size_t axis = node.axis(axes.front(), x.rank());
  const std::int64_t extent = x.dims[axis];
  const bool backwards = node.integer("reverse", 0) != 0;
  const std::int64_t own = node.integer("exclusive", 0) != 0 ? 0 : 1;
  Constant ones;
  const std::int64_t count = fold_size({extent, extent}, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t to = i / extent, from = i % extent;
    const std::int64_t before = backwards ? from - to : to - from;
    ones.floats.push_back(before + own > 0 ? 1.0f : 0.0f);
  }
  const View weights = constant_view(std::move(ones), {extent, extent});
  return {with_last(multiply_rows(emitter, with_last(x, axis, false), weights, {}), axis, true)};
}

}  // namespace

View with_last(const View& x, std::size_t axis, bool back) {
  std::vector<std::size_t> axes = own_axes(x.rank());
  const auto at = axes.begin() + static_cast<std::ptrdiff_t>(axis);
  if (back) {
    std::rotate(at, axes.end() - 1, axes.end());
  } else {
    std::rotate(at, at + 1, axes.end());
  }
  return transpose(x, axes);
}

View gather_by_values(LayerEmitter& emitter, const View& x, const View& indices, std::size_t axis) {
  emitter.look_up(indices, x.dims[axis]);
  const View table = as_rows(emitter, x, axis);
  const std::int64_t rows = table.dims[0], columns = table.dims[1];
  // Each index is a pixel of one channel, which becomes the channels of its row.
  const View pixels = insert_axis(indices, indices.rank());
  const std::vector<std::size_t> own = own_axes(pixels.rank());
  Dims dims = indices.dims;
  dims.push_back(columns);
  const LayerInput at = emitter.input(pixels, own);
  View found;
  if (table.is_constant()) {
    found = emitter.emit(Gather{Shape{rows, columns, 1, 1}}, {at}, dims, own,
                         {table_values(emitter, table), {}});
  } else {
    found = emitter.emit(Gather{}, {at, emitter.input(table, own_axes(2))}, dims, own);
  }
  // (indices, others) to (others before the axis, indices, others after it).
  dims.pop_back();
  for (std::size_t k = 0; k < x.rank(); ++k) {
    if (k != axis) dims.push_back(x.dims[k]);
  }
  std::vector<std::size_t> axes = own_axes(dims.size());
  const auto first = axes.begin() + static_cast<std::ptrdiff_t>(indices.rank());
  std::rotate(axes.begin(), first, first + static_cast<std::ptrdiff_t>(axis));
  return transpose(reshape_to(emitter, found, dims), axes);
}

View gather_elements_by_values(LayerEmitter& emitter, const View& x, const View& indices,
                               std::size_t axis) {
  if (indices.rank() != x.rank()) emitter.fail("has indices of other dimensions than its input");
  emitter.look_up(indices, x.dims[axis]);
  View read = x;
  for (std::size_t k = 0; k < x.rank(); ++k) {
    if (k == axis) continue;
    if (indices.dims[k] > x.dims[k]) emitter.fail("has more indices than its input");
    read = slice(read, k, 0, indices.dims[k], 1);
  }
  const View ones = ones_at(emitter, with_last(indices, axis, false), x.dims[axis]);
  const View table = with_last(read, axis, false);
  const View found = combine(emitter, Looked::kKeepIf, ones, insert_axis(table, table.rank() - 1));
  std::vector<bool> summed(found.rank(), false);
  summed.back() = true;
  return with_last(sum_along(emitter, found, summed), axis, true);
}

void add_lookups(Operators& operators) {
  operators["CumSum"] = {.emit = running_sums, .attributes = {.read = {"exclusive", "reverse"}}};
}

}  // namespace hios::onnx
