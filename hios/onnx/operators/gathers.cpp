// Part of hios/onnx/operators/families.h: Gather, GatherND, GatherElements, ScatterND and
// ScatterElements by known indices.
// Each result value is at a known position, so a gather moves values as Transpose does. Where
// positions grow in equal steps along each axis of the indices (unfold, as_strided, windows), the
// result is a view. Otherwise the indices are divided into stretches of equal steps, whose views
// are joined. Constants are copied value by value.
#include <algorithm>

#include "hios/onnx/operators/constants/scattered.h"
#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

constexpr std::size_t kMostStretches = 256;
constexpr std::int64_t kMostScattered = std::int64_t{1} << 24;

/// Positions relative to a view's offset, row-major over the axes of a node's indices.
struct Positions {
  Dims dims;
  std::vector<std::int64_t> at;

  /// Returns the steps along an axis: the same at all other indices, or empty where it differs.
  std::vector<std::optional<std::int64_t>> steps(std::size_t axis) const {
    const auto stride = static_cast<std::size_t>(dense_strides(dims)[axis]);
    const auto extent = static_cast<std::size_t>(dims[axis]);
    std::vector<std::optional<std::int64_t>> result(extent > 0 ? extent - 1 : 0);
    std::vector<bool> seen(result.size(), false);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const std::size_t index = i / stride % extent;
      if (index + 1 == extent) continue;
      const std::int64_t step = at[i + stride] - at[i];
      if (!seen[index]) result[index] = step;
      if (seen[index] && result[index] != step) result[index].reset();
      seen[index] = true;
    }
    return result;
  }

  /// Returns those from `begin` to before `end` of an axis.
  Positions part(std::size_t axis, std::int64_t begin, std::int64_t end) const {
    View all{nullptr, dims, dense_strides(dims), 0};
    Positions result{dims, {}};
    result.dims[axis] = end - begin;
    each_position(slice(all, axis, begin, end - begin, 1), own_axes(dims.size()),
                  [&](std::int64_t i) { result.at.push_back(at[static_cast<std::size_t>(i)]); });
    return result;
  }
};

/// Gathers from `count` axes of a view, from `first` on: the axes of the indices replace them.
class Gathering {
 public:
  Gathering(LayerEmitter& emitter, const View& x, std::size_t first, std::size_t count)
      : emitter_(emitter), x_(x), first_(first), count_(count) {}

  View read(const Positions& positions) {
    Dims strides(positions.dims.size(), 0);
    for (std::size_t axis = 0; axis < positions.dims.size() && !positions.at.empty(); ++axis) {
      const auto steps = positions.steps(axis);
      if (steps.empty()) continue;
      const bool equal = steps.front() && std::ranges::all_of(steps, [&](const auto& step) {
                           return step == steps.front();
                         });
      if (!equal && x_.is_constant()) return copied(positions);
      if (!equal) return divided(positions, axis, steps);
      strides[axis] = *steps.front();
    }
    View result = around(x_, positions.dims, strides);
    if (!positions.at.empty()) result.offset += positions.at.front();
    elements(result.dims);
    return result;
  }

 private:
  /// Returns the view with these axes instead of the gathered ones.
  View around(const View& x, const Dims& dims, const Dims& strides) const {
    View result = x;
    const auto replace = [&](Dims& of, const Dims& by) {
      const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first_);
      const auto at = of.erase(begin, begin + static_cast<std::ptrdiff_t>(count_));
      of.insert(at, by.begin(), by.end());
    };
    replace(result.dims, dims);
    replace(result.strides, strides);
    return result;
  }

  View copied(const Positions& positions) const {
    const Dims dims = around(x_, positions.dims, positions.dims).dims;
    checked_size(emitter_.node(), dims);
    // The positions along the axes before the gathered ones, and along those after them.
    View before = x_, after = x_;
    after.offset = 0;
    for (Dims View::*of : {&View::dims, &View::strides}) {
      (before.*of).resize(first_);
      (after.*of).erase((after.*of).begin(),
                        (after.*of).begin() + static_cast<std::ptrdiff_t>(first_ + count_));
    }
    const std::vector<std::size_t> outer = positions_of(before), inner = positions_of(after);
    std::vector<std::size_t> from;
    for (const std::size_t a : outer) {
      for (const std::int64_t at : positions.at) {
        for (const std::size_t b : inner) from.push_back(a + static_cast<std::size_t>(at) + b);
      }
    }
    return values_at(x_.constant(), from, dims);
  }

  /// Joins the stretches of equal steps along an axis.
  View divided(const Positions& positions, std::size_t axis,
               const std::vector<std::optional<std::int64_t>>& steps) {
    std::vector<View> parts;
    const auto extent = static_cast<std::int64_t>(positions.dims[axis]);
    for (std::int64_t begin = 0, end = 1; begin < extent; begin = end, ++end) {
      const auto step = [&](std::int64_t i) { return steps[static_cast<std::size_t>(i)]; };
      while (end < extent && step(begin) && step(end - 1) == step(begin)) ++end;
      if (++stretches_ > kMostStretches) {
        emitter_.fail("gathers by indices of more than " + std::to_string(kMostStretches) +
                      " stretches of equal steps: sort its input, or simplify the file");
      }
      parts.push_back(read(positions.part(axis, begin, end)));
    }
    return join(emitter_, parts, first_ + axis);
  }

  LayerEmitter& emitter_;
  const View& x_;
  std::size_t first_, count_;
  std::size_t stretches_ = 0;
};

/// Gathers by constant indices along one axis.
Views gather(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const std::size_t axis = node.axis(node.integer("axis", 0), x.rank());
  if (!node.input(1).is_constant()) return {gather_by_values(emitter, x, node.input(1), axis)};
  Positions positions{node.input(1).dims, node.integers(1)};
  for (std::int64_t& at : positions.at) at = node.index(at, x.dims[axis]) * x.strides[axis];
  return {Gathering(emitter, x, axis, 1).read(positions)};
}

/// Gathers by tuples of indices, each an element or a slice of the input.
Views gather_tuples(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const Dims& dims = node.input(1).dims;
  const std::vector<std::int64_t> tuples = node.integers(1);
  const std::int64_t batches = node.integer("batch_dims", 0);
  const std::int64_t depth = dims.empty() ? 0 : dims.back();
  if (batches < 0 || batches >= static_cast<std::int64_t>(dims.size()) || depth < 1 ||
      batches + depth > static_cast<std::int64_t>(x.rank())) {
    node.fail("has indices of other dimensions than its input");
  }
  const auto shared = static_cast<std::size_t>(batches), length = static_cast<std::size_t>(depth);
  for (std::size_t axis = 0; axis < shared; ++axis) {
    if (dims[axis] != x.dims[axis]) node.fail("has indices for other batches than its input's");
  }
  Positions positions{Dims(dims.begin(), dims.end() - 1), {}};
  const Dims strides = dense_strides(positions.dims);
  for (std::size_t i = 0; i * length < tuples.size(); ++i) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < shared; ++axis) {
      at += static_cast<std::int64_t>(i) / strides[axis] % dims[axis] * x.strides[axis];
    }
    for (std::size_t k = 0; k < length; ++k) {
      const std::size_t axis = shared + k;
      at += node.index(tuples[i * length + k], x.dims[axis]) * x.strides[axis];
    }
    positions.at.push_back(at);
  }
  return {Gathering(emitter, x, 0, shared + length).read(positions)};
}

/// Gathers one value for each index: along one axis by the index, along the others by its position.
Views gather_elements(LayerEmitter& emitter, const Node& node) {
  const View &x = node.input(0), &indices = node.input(1);
  const std::size_t axis = node.axis(node.integer("axis", 0), x.rank());
  if (!indices.is_constant()) return {gather_elements_by_values(emitter, x, indices, axis)};
  if (indices.rank() != x.rank()) node.fail("has indices of other dimensions than its input");
  for (std::size_t k = 0; k < x.rank(); ++k) {
    if (k != axis && indices.dims[k] > x.dims[k]) node.fail("has more indices than its input");
  }
  Positions positions{indices.dims, node.integers(1)};
  const Dims strides = dense_strides(indices.dims);
  for (std::size_t i = 0; i < positions.at.size(); ++i) {
    std::int64_t at = node.index(positions.at[i], x.dims[axis]) * x.strides[axis];
    for (std::size_t k = 0; k < x.rank(); ++k) {
      const std::int64_t index = static_cast<std::int64_t>(i) / strides[k] % indices.dims[k];
      if (k != axis) at += index * x.strides[k];
    }
    positions.at[i] = at;
  }
  return {Gathering(emitter, x, 0, x.rank()).read(positions)};
}

/// Returns the data with slices replaced by the updates, in their order: a gather from both,
/// joined.
View replaced(LayerEmitter& emitter, const Node& node, const Scattered& scattered) {
  const View &data = node.input(0), &updates = node.input(2);
  Positions from{
      Dims(data.dims.begin(), data.dims.begin() + static_cast<std::ptrdiff_t>(scattered.depth)),
      {}};
  const std::int64_t count = elements(from.dims), length = scattered.length;
  if (count > kMostScattered) node.fail("replaces values among more than 2^24");
  if (elements(updates.dims) == 0) return data;
  for (std::int64_t at = 0; at < count; ++at) from.at.push_back(at);
  for (std::size_t i = 0; i < scattered.slices.size(); ++i) {
    from.at[static_cast<std::size_t>(scattered.slices[i])] = count + static_cast<std::int64_t>(i);
  }
  const auto rows = [&](const View& x) {
    return reshape_to(emitter, x, {elements(x.dims) / length, length});
  };
  const View all = join_with_constants(emitter, {rows(data), rows(updates)}, 0);
  for (std::int64_t& at : from.at) at *= all.strides[0];
  return reshape_to(emitter, Gathering(emitter, all, 0, 1).read(from), data.dims);
}

/// Replaces elements or slices at tuples of indices.
Views scatter_tuples(LayerEmitter& emitter, const Node& node) {
  return {replaced(emitter, node, scattered_by_tuples(node))};
}

/// Replaces one element for each index.
Views scatter_elements(LayerEmitter& emitter, const Node& node) {
  return {replaced(emitter, node, scattered_elements(node))};
}

}  // namespace

void add_gathers(Operators& operators) {
  operators["Gather"] = {.emit = gather, .attributes = {.read = {"axis"}}};
  operators["GatherND"] = {.emit = gather_tuples, .attributes = {.read = {"batch_dims"}}};
  operators["ScatterND"] = {.emit = scatter_tuples, .attributes = {.read = {"reduction"}}};
  operators["ScatterElements"] = {.emit = scatter_elements,
                                  .attributes = {.read = {"axis", "reduction"}}};
  operators["GatherElements"] = {.emit = gather_elements, .attributes = {.read = {"axis"}}};
}

}  // namespace hios::onnx
