#include "hios/onnx/operators/constants/scattered.h"

namespace hios::onnx {
namespace {

/// Completes the slices, whose depth and numbers are known.
Scattered checked(const Node& node, Scattered scattered) {
  if (node.text("reduction", "none") != "none") node.fail("adds or multiplies, which is not read");
  const Dims& dims = node.input(0).dims;
  scattered.length =
      elements(Dims(dims.begin() + static_cast<std::ptrdiff_t>(scattered.depth), dims.end()));
  const std::int64_t values = static_cast<std::int64_t>(scattered.slices.size()) * scattered.length;
  if (elements(node.input(2).dims) != values) {
    node.fail("has another number of updates than its indices take");
  }
  return scattered;
}

}  // namespace

Scattered scattered_by_tuples(const Node& node) {
  const Dims& dims = node.input(0).dims;
  const Dims& of = node.input(1).dims;
  const std::size_t depth = of.empty() ? 0 : static_cast<std::size_t>(of.back());
  if (depth < 1 || depth > dims.size()) node.fail("has indices of other dimensions than its data");
  const std::vector<std::int64_t> tuples = node.integers(1);
  const Dims strides =
      dense_strides(Dims(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(depth)));
  Scattered result{depth, {}};
  for (std::size_t i = 0; i * depth < tuples.size(); ++i) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      at += node.index(tuples[i * depth + k], dims[k]) * strides[k];
    }
    result.slices.push_back(at);
  }
  return checked(node, std::move(result));
}

// Along one axis an element is at the index, along the others at the index's own position.
Scattered scattered_elements(const Node& node) {
  const View &data = node.input(0), &indices = node.input(1);
  const std::size_t axis = node.axis(node.integer("axis", 0), data.rank());
  if (indices.rank() != data.rank() || indices.dims != node.input(2).dims) {
    node.fail("has indices of other dimensions than its data or updates");
  }
  const Dims strides = dense_strides(data.dims), own = dense_strides(indices.dims);
  Scattered result{data.rank(), node.integers(1)};
  for (std::size_t i = 0; i < result.slices.size(); ++i) {
    std::int64_t at = node.index(result.slices[i], data.dims[axis]) * strides[axis];
    for (std::size_t k = 0; k < data.rank(); ++k) {
      const std::int64_t index = static_cast<std::int64_t>(i) / own[k] % indices.dims[k];
      if (k != axis) at += node.index(index, data.dims[k]) * strides[k];
    }
    result.slices[i] = at;
  }
  return checked(node, std::move(result));
}

}  // namespace hios::onnx
