// Part of hios/onnx/operators/families.h: products of matrices. One with a constant matrix becomes
// a 1x1 convolution.
#include <algorithm>

#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

/// Adds x·Wᵀ + bias over the last axis of x, for W of these extents (columns, inner), as a 1×1
/// convolution.
View multiply(LayerEmitter& emitter, const View& x, const Dims& weights,
              ModelWeights::Values parameters) {
  const std::int64_t columns = weights[0], inner = weights[1];
  if (x.rank() == 0 || x.dims.back() != inner) {
    emitter.fail("multiplies rows of " + std::to_string(x.rank() ? x.dims.back() : 1) +
                 " values by columns of " + std::to_string(inner));
  }
  const std::vector<std::size_t> own = own_axes(x.rank());
  Dims dims = x.dims;
  dims.back() = columns;
  Conv layer;
  layer.out_channels = columns;
  layer.bias = !parameters.bias.empty();
  const LayerInput rows = emitter.input(x, own);
  return emitter.emit(layer, {rows}, dims, own, std::move(parameters));
}

View transposed(const View& matrix) {
  static constexpr std::size_t kAxes[] = {1, 0};
  return transpose(matrix, kAxes);
}

void scale(std::vector<float>& values, float factor) {
  if (factor == 1) return;
  for (float& value : values) value *= factor;
}

/// Returns α·A·B + β·C where B is computed.
View of_computed_matrices(LayerEmitter& emitter, const Node& node, const View& a, const View& b) {
  const auto times = [&](const View& x, float factor) {
    return factor == 1 ? x : combine(emitter, Binary::Function::kMul, x, number_view(factor));
  };
  const View result = times(matrix_product(emitter, a, b), node.number("alpha", 1));
  if (!node.has(2)) return result;
  return combine(emitter, Binary::Function::kAdd, result,
                 times(node.input(2), node.number("beta", 1)));
}

Views gemm(LayerEmitter& emitter, const Node& node) {
  const float alpha = node.number("alpha", 1), beta = node.number("beta", 1);
  View a = node.input(0), b = node.input(1);
  if (a.rank() != 2 || b.rank() != 2) node.fail("multiplies matrices: two dimensions each");
  if (node.integer("transA", 0) != 0) a = transposed(a);
  if (node.integer("transB", 0) == 0) b = transposed(b);
  const Dims dims{a.dims[0], b.dims[0]};
  if (!b.is_constant()) return {of_computed_matrices(emitter, node, a, transposed(b))};
  std::vector<float> bias;
  bool added = !node.has(2);
  if (node.has(2) && node.input(2).is_constant()) {
    const View& c = node.input(2);
    const bool row = c.rank() < 2 || c.dims[0] == 1;
    if (row) {
      const View wide = expand(c, c.rank() < 2 ? Dims{dims[1]} : Dims{1, dims[1]});
      bias = floats_of(wide);
      scale(bias, beta);
      added = true;
    }
  }
  std::vector<float> weights = emitter.take_floats(b);
  scale(weights, alpha);
  View result = multiply(emitter, a, b.dims, {std::move(weights), std::move(bias)});
  if (added) return {result};
  if (beta != 1) node.fail("its beta must be 1 unless its third input is a constant row");
  return {combine(emitter, Binary::Function::kAdd, result, node.input(2))};
}

/// Returns the view with its last two axes exchanged.
View matrices_transposed(const View& view) {
  std::vector<std::size_t> axes = own_axes(view.rank());
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return transpose(view, axes);
}

/// Adds A·B for constant matrices B, one for each index along their axes before the last two, as a
/// 1×1 convolution with groups: the values of a row of A for all of these matrices are its
/// channels. REQUIRES: equal ranks; A is computed.
View multiply_each(LayerEmitter& emitter, View a, const View& b) {
  const std::size_t rank = a.rank();
  std::vector<std::size_t> order, groups;
  Dims outer, shared, wide = a.dims;
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    if (b.dims[axis] == 1) {
      order.push_back(axis);
      outer.push_back(a.dims[axis]);
      continue;
    }
    groups.push_back(axis);
    shared.push_back(b.dims[axis]);
    wide[axis] = b.dims[axis];
    count *= b.dims[axis];
  }
  const std::int64_t rows = a.dims[rank - 2], inner = a.dims[rank - 1], columns = b.dims[rank - 1];
  if (b.dims[rank - 2] != inner) {
    emitter.fail("multiplies rows of " + std::to_string(inner) + " values by columns of " +
                 std::to_string(b.dims[rank - 2]));
  }
  a = expand(a, wide);
  order.push_back(rank - 2);
  order.insert(order.end(), groups.begin(), groups.end());
  order.push_back(rank - 1);
  const View flat =
      reshape_to(emitter, transpose(a, order), {elements(outer) * rows, count * inner});
  std::vector<std::size_t> columns_first = own_axes(rank);
  std::swap(columns_first[rank - 1], columns_first[rank - 2]);
  Conv layer;
  layer.out_channels = count * columns;
  layer.groups = count;
  layer.bias = false;
  const std::vector<std::size_t> two{0, 1};
  const View made =
      emitter.emit(layer, {emitter.input(flat, two)}, {elements(outer) * rows, count * columns},
                   two, {floats_of(b, columns_first), {}});
  Dims dims = outer;
  dims.push_back(rows);
  dims.insert(dims.end(), shared.begin(), shared.end());
  dims.push_back(columns);
  std::vector<std::size_t> back(rank);
  for (std::size_t k = 0; k < rank; ++k) back[order[k]] = k;
  return transpose(reshape_to(emitter, made, dims), back);
}

/// Returns the matrices of a product, read as (n, h, rows, columns): at most two axes before the
/// matrices' own are left when axes are joined that both operands have, or one broadcasts.
std::pair<LayerInput, LayerInput> matrices(LayerEmitter& emitter, const View& a, const View& b) {
  const std::vector<std::size_t> own = own_axes(a.rank());
  const auto both = joined_extents(a, b, std::span(own).first(a.rank() - 2), 2);
  const auto read = [&](const View& view, const Dims& batches) {
    Dims four = batches;
    while (four.size() < 2) four.insert(four.begin(), 1);
    four.insert(four.end(), view.dims.end() - 2, view.dims.end());
    return LayerInput{emitter.dense(view, own).tensor(), shape_of(four)};
  };
  if (both) return {read(a, both->first), read(b, both->second)};
  // They broadcast alternately: both are written out.
  const auto batches_of = [](const View& view) {
    return Dims(view.dims.begin(), view.dims.end() - 2);
  };
  const Dims batches =
      broadcast_extents({View{a.base, batches_of(a), {}, 0}, View{b.base, batches_of(b), {}, 0}});
  const auto whole = [&](const View& view) {
    Dims dims = batches;
    dims.insert(dims.end(), view.dims.end() - 2, view.dims.end());
    return read(expand(view, dims), {elements(batches)});
  };
  return {whole(a), whole(b)};
}

/// Adds a product of tensors over the last two axes. The axes before broadcast.
View product(LayerEmitter& emitter, const View& left, const View& right) {
  View a = left, b = right;
  if (a.rank() == 0 || b.rank() == 0) emitter.fail("multiplies a scalar");
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = insert_axis(a, 0);
  if (column) b = insert_axis(b, 1);
  const std::size_t rank = std::max(a.rank(), b.rank());
  while (a.rank() < rank) a = insert_axis(a, 0);
  while (b.rank() < rank) b = insert_axis(b, 0);
  Dims dims;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const std::int64_t x = a.dims[i], y = b.dims[i];
    if (x != y && x != 1 && y != 1) {
      emitter.fail("cannot combine extents " + std::to_string(x) + " and " + std::to_string(y));
    }
    dims.push_back(std::max(x, y));
  }
  dims.push_back(a.dims[rank - 2]);
  dims.push_back(b.dims[rank - 1]);
  View result;
  if (b.is_constant() && !a.is_constant()) {
    result = multiply_each(emitter, a, b);
  } else if (a.is_constant() && !b.is_constant()) {  // A·B = (Bᵀ·Aᵀ)ᵀ
    result =
        matrices_transposed(multiply_each(emitter, matrices_transposed(b), matrices_transposed(a)));
  } else {
    a = emitter.as_tensor(a);
    b = emitter.as_tensor(b);
    const auto [rows, columns] = matrices(emitter, a, b);
    result = emitter.emit(MatMul{}, {rows, columns}, dims, own_axes(rank));
  }
  if (column) result = remove_axis(result, rank - 1);
  if (row) result = remove_axis(result, rank - 2);
  return result;
}

Views matmul(LayerEmitter& emitter, const Node& node) {
  return {matrix_product(emitter, node.input(0), node.input(1))};
}

}  // namespace

View multiply_rows(LayerEmitter& emitter, const View& x, const View& weights,
                   std::vector<float> bias) {
  return multiply(emitter, x, weights.dims, {floats_of(weights), std::move(bias)});
}

View matrix_product(LayerEmitter& emitter, const View& a, const View& b) {
  if (b.is_constant() && b.rank() == 2) {
    const View weights = transposed(b);
    return multiply(emitter, a, weights.dims, {emitter.take_floats(weights), {}});
  }
  if (b.is_constant() && b.rank() == 1) {
    const View column = multiply_rows(emitter, a, insert_axis(b, 0), {});
    return remove_axis(column, column.rank() - 1);
  }
  // A·x = (xᵀ·Aᵀ)ᵀ
  if (a.is_constant() && a.rank() == 2 && !b.is_constant() && b.rank() >= 2) {
    return matrices_transposed(multiply_rows(emitter, matrices_transposed(b), a, {}));
  }
  return product(emitter, a, b);
}

void add_products(Operators& operators) {
  operators["Gemm"] = {
      .emit = gemm,
      .attributes = {.read = {"alpha", "beta", "transA", "transB"}, .unread = {kOldBroadcast}}};
  operators["MatMul"].emit = matmul;
}

}  // namespace hios::onnx
