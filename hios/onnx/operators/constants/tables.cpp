// Part of hios/onnx/operators/constants/constants.h: operators that put constants of any type
// together, or choose among them.
#include <algorithm>

#include "hios/onnx/operators/constants/constants.h"
#include "hios/onnx/operators/constants/scattered.h"
#include "hios/onnx/operators/constants/values.h"

namespace hios::onnx {
namespace {

/// Constants of one type, values after values.
struct ValuePool {
  Constant all;
  std::vector<std::size_t> begins;  ///< the position of the first value of each

  void add(const Constant& more) {
    begins.push_back(all.size());
    all.type = more.type;
    all.floats.insert(all.floats.end(), more.floats.begin(), more.floats.end());
    all.integers.insert(all.integers.end(), more.integers.begin(), more.integers.end());
  }
};

Views concat_constants(const Node& node) {
  Dims dims = node.input(0).dims;
  const std::size_t axis = node.axis(node.integer("axis", 0), dims.size());
  dims[axis] = 0;
  ValuePool pool;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const View& x = node.input(i);
    if (x.rank() != dims.size() || x.constant().type != node.input(0).constant().type) {
      node.fail("joins constants of different dimensions or types");
    }
    for (std::size_t k = 0; k < dims.size(); ++k) {
      if (k != axis && x.dims[k] != node.input(0).dims[k]) {
        node.fail("joins constants of different extents");
      }
    }
    dims[axis] += x.dims[axis];
  }
  std::vector<std::size_t> from(static_cast<std::size_t>(checked_size(node, dims)));
  const Dims strides = dense_strides(dims);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const View& x = node.input(i);
    const std::vector<std::size_t> positions = positions_of(x),
                                   to = positions_of(
                                       View{x.base, x.dims, strides, begin * strides[axis]});
    pool.add(x.constant());
    for (std::size_t k = 0; k < to.size(); ++k) from[to[k]] = pool.begins.back() + positions[k];
    begin += x.dims[axis];
  }
  return {values_at(pool.all, from, dims)};
}

/// Replaces slices of the data. Exporters use it to assign to parts of a tensor, such as attention
/// masks and tables of relative positions.
View replaced_values(const Node& node, const Scattered& scattered) {
  const View &data = node.input(0), &updates = node.input(2);
  if (data.constant().type != updates.constant().type) fail_of_types(node);
  checked_size(node, data.dims);
  checked_size(node, updates.dims);
  std::vector<std::size_t> from = positions_of(data);
  const std::vector<std::size_t> values = positions_of(updates);
  ValuePool pool;
  pool.add(data.constant());
  pool.add(updates.constant());
  const auto length = static_cast<std::size_t>(scattered.length);
  for (std::size_t i = 0; i < scattered.slices.size(); ++i) {
    const std::size_t first = static_cast<std::size_t>(scattered.slices[i]) * length;
    for (std::size_t j = 0; j < length; ++j) {
      from[first + j] = pool.begins.back() + values[i * length + j];
    }
  }
  return values_at(pool.all, from, data.dims);
}

Views scatter_tuples_of_constants(const Node& node) {
  return {replaced_values(node, scattered_by_tuples(node))};
}

Views scatter_elements_of_constants(const Node& node) {
  return {replaced_values(node, scattered_elements(node))};
}

/// Keeps the values on one side of a diagonal of each matrix (Trilu); the others are 0.
Views triangle(const Node& node) {
  const View& x = node.input(0);
  if (x.rank() < 2) node.fail("takes matrices: two dimensions or more");
  const std::vector<std::int64_t> given =
      node.has(1) ? node.integers(1) : std::vector<std::int64_t>{0};
  if (given.size() != 1) node.fail("needs one diagonal");
  const bool upper = node.integer("upper", 1) != 0;
  const std::int64_t rows = x.dims[x.rank() - 2], columns = x.dims.back();
  const std::int64_t diagonal = std::clamp(given.front(), -rows, columns);
  checked_size(node, x.dims);
  const View dense = values_at(x.constant(), positions_of(x), x.dims);
  Constant kept = dense.constant();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t right = at % columns - at / columns % rows;
    if (upper ? right >= diagonal : right <= diagonal) continue;
    if (kept.type == ConstantType::kFloat) {
      kept.floats[i] = 0;
    } else {
      kept.integers[i] = 0;
    }
  }
  return {constant_view(std::move(kept), x.dims)};
}

/// Returns the indices of the values that are not 0, by axis.
Views non_zero(const Node& node) {
  const View& x = node.input(0);
  checked_size(node, x.dims);
  const std::vector<std::size_t> positions = positions_of(x);
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (x.constant().at(positions[i]) != 0) found.push_back(static_cast<std::int64_t>(i));
  }
  const Dims strides = dense_strides(x.dims);
  std::vector<std::int64_t> indices;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    for (const std::int64_t at : found) indices.push_back(at / strides[axis] % x.dims[axis]);
  }
  return {integer_view(std::move(indices), {static_cast<std::int64_t>(x.rank()),
                                            static_cast<std::int64_t>(found.size())})};
}

}  // namespace

void add_tables(Operators& operators) {
  const FoldRow rows[] = {
      {"Concat", of_constants(concat_constants)},
      {"NonZero", of_constants(non_zero)},
      {"ScatterElements", of_constants(scatter_elements_of_constants)},
      {"ScatterND", of_constants(scatter_tuples_of_constants)},
      {"Trilu", of_constants(triangle), {.read = {"upper"}}},
  };
  add_rows(operators, rows);
}

}  // namespace hios::onnx
