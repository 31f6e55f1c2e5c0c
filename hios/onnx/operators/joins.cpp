// Part of hios/onnx/operators/families.h: Concat and Pad.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {

View join(LayerEmitter& emitter, const std::vector<View>& views, std::size_t axis) {
  if (views.size() == 1) return views.front();
  Dims dims = views.front().dims;
  dims[axis] = 0;
  for (const View& x : views) dims[axis] += x.dims[axis];
  const std::vector<std::size_t> order = memory_order(dims.size());
  const auto at = static_cast<std::size_t>(std::ranges::find(order, axis) - order.begin());
  Concat layer{axis_of(std::min<std::size_t>(at, 3), std::min<std::size_t>(order.size(), 4))};
  std::vector<LayerInput> inputs;
  for (const View& x : views) {
    LayerInput input = emitter.input(x, order);
    if (dims.size() > 4) {  // three extents: before the axis, after it, and the axis itself
      const auto middle = x.dims.begin() + static_cast<std::ptrdiff_t>(axis);
      layer.axis = Axis::kW;
      input.shape = {elements(Dims(x.dims.begin(), middle)),
                     elements(Dims(middle + 1, x.dims.end())), 1, *middle};
    }
    inputs.push_back(input);
  }
  return emitter.emit(layer, inputs, dims, order);
}

namespace {

/// Adds a Pad with these pads, before each axis and then after each. Of more than four dimensions,
/// adjacent ones without pads are padded as one.
View padded(LayerEmitter& emitter, const View& x, const std::vector<std::int64_t>& pads, Pad layer,
            const std::vector<std::size_t>& order) {
  Dims dims = x.dims, extents, before, after;
  for (const std::size_t axis : order) {
    const std::int64_t begin = pads[axis], end = pads[x.rank() + axis];
    dims[axis] += begin + end;
    const bool plain = begin == 0 && end == 0;
    if (x.rank() > 4 && plain && !before.empty() && before.back() == 0 && after.back() == 0) {
      extents.back() *= x.dims[axis];
      continue;
    }
    extents.push_back(x.dims[axis]);
    before.push_back(begin);
    after.push_back(end);
  }
  if (extents.size() > 4) emitter.fail("pads axes of more than four dimensions alternately");
  const auto zeros_elsewhere = [](const Dims& some) {
    Shape shape = shape_of(some);
    if (some.size() < 4) shape.h = 0;
    if (some.size() < 3) shape.w = 0;
    if (some.size() < 2) shape.n = 0;
    return shape;
  };
  layer.begin = zeros_elsewhere(before);
  layer.end = zeros_elsewhere(after);
  LayerInput input = emitter.input(x, order);
  input.shape = shape_of(extents);
  return emitter.emit(layer, {input}, dims, order);
}

}  // namespace

View padded_along(LayerEmitter& emitter, const View& x, std::size_t axis, std::int64_t before,
                  std::int64_t after, float value) {
  if (before + after == 0) return x;
  std::vector<std::int64_t> pads(2 * x.rank(), 0);
  pads[axis] = before;
  pads[x.rank() + axis] = after;
  return padded(emitter, x, pads, {Pad::Mode::kConstant, {0, 0, 0, 0}, {0, 0, 0, 0}, value},
                memory_order(x.rank()));
}

namespace {

/// Returns the constants among joined views, with zeros instead of the computed ones.
View constants_in(const std::vector<View>& views, const Dims& dims, std::size_t axis) {
  if (elements(dims) > kFoldBudget)
    throw InputError(std::string("joins constants of too many values") + kSimplify);
  auto values = std::make_shared<Constant>();
  values->floats.resize(static_cast<std::size_t>(elements(dims)));
  View all{nullptr, dims, dense_strides(dims), 0};
  std::int64_t begin = 0;
  std::vector<std::size_t> own(dims.size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = i;
  for (const View& x : views) {
    if (x.is_constant()) {
      const std::vector<float> from = floats_of(x);
      std::size_t next = 0;
      each_position(slice(all, axis, begin, x.dims[axis], 1), own, [&](std::int64_t at) {
        values->floats[static_cast<std::size_t>(at)] = from[next++];
      });
    }
    begin += x.dims[axis];
  }
  all.base = std::shared_ptr<const Constant>(std::move(values));
  return all;
}

}  // namespace

View join_with_constants(LayerEmitter& emitter, const std::vector<View>& all, std::size_t axis) {
  if (all.empty()) emitter.fail("joins nothing that is computed");
  Dims dims = all.front().dims;
  dims[axis] = 0;
  std::vector<View> computed;
  std::int64_t before = 0, after = 0;
  bool between = false;
  for (const View& x : all) {
    dims[axis] += x.dims[axis];
    if (x.is_constant()) {
      (computed.empty() ? before : after) += x.dims[axis];
      continue;
    }
    if (after > 0) {  // constants between computed tensors
      computed.back() = padded_along(emitter, computed.back(), axis, 0, std::exchange(after, 0), 0);
      between = true;
    }
    computed.push_back(x);
  }
  if (computed.empty()) emitter.fail("joins nothing that is computed");
  const View tensors = join(emitter, computed, axis);
  if (before + after == 0 && !between) return tensors;
  // The constants are added to zeros in their range, and zeros to the computed values: x + 0 = x.
  const View wide = padded_along(emitter, tensors, axis, before, after, 0);
  return combine(emitter, Binary::Function::kAdd, wide, constants_in(all, dims, axis));
}

namespace {

Views concat(LayerEmitter& emitter, const Node& node) {
  const Dims& dims = node.input(0).dims;
  const std::size_t axis = node.axis(node.integer("axis", 1), dims.size());
  std::vector<View> all;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const View& x = node.input(i);
    if (x.rank() != dims.size()) node.fail("joins tensors of different dimensions");
    for (std::size_t k = 0; k < dims.size(); ++k) {
      if (k != axis && x.dims[k] != dims[k]) node.fail("joins tensors of different extents");
    }
    if (x.dims[axis] > 0) all.push_back(x);
  }
  return {join_with_constants(emitter, all, axis)};
}
/// Returns the pads before each axis, then those after each axis.
std::vector<std::int64_t> pads_of(const Node& node, std::size_t rank) {
  std::vector<std::int64_t> pads =
      node.has(1) ? node.integers(1)
                  : node.integer_list("pads").value_or(std::vector<std::int64_t>());
  if (!node.has(3)) {
    if (pads.size() != 2 * rank) node.fail("needs pads for each axis, before and after");
    return pads;
  }
  const std::vector<std::int64_t> axes = node.integers(3);
  if (pads.size() != 2 * axes.size()) node.fail("needs pads for each of its axes");
  std::vector<std::int64_t> all(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = node.axis(axes[i], rank);
    all[axis] = pads[i];
    all[rank + axis] = pads[axes.size() + i];
  }
  return all;
}

Views pad(LayerEmitter& emitter, const Node& node) {
  View x = node.input(0);
  if (x.rank() == 0) node.fail("pads a scalar");
  std::vector<std::int64_t> pads = pads_of(node, x.rank());
  static const std::map<std::string, Pad::Mode> kModes = {{"constant", Pad::Mode::kConstant},
                                                          {"reflect", Pad::Mode::kReflect},
                                                          {"edge", Pad::Mode::kEdge},
                                                          {"wrap", Pad::Mode::kWrap}};
  const auto mode = kModes.find(node.text("mode", "constant"));
  if (mode == kModes.end()) node.fail("has an unknown mode");
  Pad layer{mode->second, {0, 0, 0, 0}, {0, 0, 0, 0}, node.number("value", 0)};
  if (node.has(2)) {
    const std::vector<float> value = node.floats(2);
    if (value.size() != 1) node.fail("needs one value to pad with");
    layer.value = value.front();
  }
  for (const std::int64_t added : pads) {
    if (added < -kMaxExtent || added > kMaxExtent) node.fail("has pads that cannot be");
  }
  for (std::size_t i = 0; i < x.rank(); ++i) {  // a negative pad cuts values off
    std::int64_t &begin = pads[i], &end = pads[x.rank() + i];
    const std::int64_t cut = std::min<std::int64_t>(begin, 0) + std::min<std::int64_t>(end, 0);
    if (std::max(begin, end) > kMaxExtent || x.dims[i] + cut < 1)
      node.fail("has pads that cannot be");
    x = slice(x, i, -std::min<std::int64_t>(begin, 0), x.dims[i] + cut, 1);
    begin = std::max<std::int64_t>(begin, 0);
    end = std::max<std::int64_t>(end, 0);
  }
  if (std::ranges::all_of(pads, [](std::int64_t p) { return p == 0; })) return {x};
  return {padded(emitter, x, pads, layer, reading_order(x))};
}

}  // namespace

void add_joins(Operators& operators) {
  operators["Concat"] = {.emit = concat, .attributes = {.read = {"axis"}}};
  operators["Pad"] = {.emit = pad, .attributes = {.read = {"mode", "pads", "value"}}};
}

}  // namespace hios::onnx
