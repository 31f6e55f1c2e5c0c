// Part of hios/onnx/operators/families.h: normalizations, Softmax and reductions.
#include <algorithm>
#include <cmath>

#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

void set(Axes& axes, Axis axis) {
  switch (axis) {
    case Axis::kN:
      axes.n = true;
      return;
    case Axis::kC:
      axes.c = true;
      return;
    case Axis::kH:
      axes.h = true;
      return;
    case Axis::kW:
      axes.w = true;
      return;
  }
}

std::vector<std::size_t> channels_last(std::size_t rank) {
  std::vector<std::size_t> order{0};
  for (std::size_t axis = 2; axis < rank; ++axis) order.push_back(axis);
  order.push_back(1);
  return order;
}

/// Returns the shape of one value per channel.
Shape channel_shape(std::int64_t channels) { return {1, channels, 1, 1}; }

/// Normalizes (N, C, …) over all axes after the channels.
Views over_pixels(LayerEmitter& emitter, const Node& node, std::int64_t groups) {
  const View& x = node.input(0);
  if (x.rank() < 3) node.fail("takes three dimensions or more");
  const std::int64_t channels = x.dims[1];
  Normalization layer;
  layer.axes = {.h = true, .w = true};
  layer.groups = groups;
  layer.epsilon = node.number("epsilon", 1e-5f);
  ModelWeights::Values parameters{node.floats(1), node.floats(2)};
  for (std::vector<float>* values : {&parameters.weights, &parameters.bias}) {
    // Before opset 21 each group had one scale and one bias.
    if (groups > 0 && node.opset() < 21 && static_cast<std::int64_t>(values->size()) == groups) {
      std::vector<float> wide;
      for (const float value : *values) {
        wide.insert(wide.end(), static_cast<std::size_t>(channels / groups), value);
      }
      *values = std::move(wide);
    }
    if (static_cast<std::int64_t>(values->size()) != channels) {
      node.fail("its scale and bias must have a value for each channel");
    }
  }
  layer.scale = layer.bias = channel_shape(channels);
  const std::vector<std::size_t> order = channels_last(x.rank());
  LayerInput input = emitter.input(x, order);
  if (x.rank() == 3) input.shape = {x.dims[0], channels, 1, x.dims[2]};
  return {emitter.emit(layer, {input}, x.dims, order, std::move(parameters))};
}

Views instance_normalization(LayerEmitter& emitter, const Node& node) {
  return over_pixels(emitter, node, 0);
}

Views group_normalization(LayerEmitter& emitter, const Node& node) {
  const std::int64_t groups = node.integer("num_groups", 0);
  const View& x = node.input(0);
  if (groups < 1 || x.rank() < 3 || x.dims[1] % groups != 0) {
    node.fail("its num_groups must divide its channels");
  }
  return over_pixels(emitter, node, groups);
}

/// An input of which some axes are computed over together: read with its own extents where they are
/// at most four, else with adjacent ones merged that are computed over, or not.
struct OverAxes {
  std::vector<std::size_t> order;
  Axes axes;
  LayerInput input;
};

OverAxes over_axes(LayerEmitter& emitter, const View& x, const std::vector<bool>& chosen) {
  OverAxes over{reading_order(x), {}, {}};
  MergedAxes merged{extents_in(x.dims, over.order), {}};
  for (const std::size_t axis : over.order) merged.chosen.push_back(chosen[axis]);
  if (x.rank() > 4) merged = merged_axes(x.dims, over.order, chosen);
  if (merged.extents.size() > 4) {  // alternately: those that are computed over move to the end
    std::ranges::stable_partition(over.order, [&](std::size_t axis) { return !chosen[axis]; });
    merged = merged_axes(x.dims, over.order, chosen);
  }
  for (std::size_t k = 0; k < merged.extents.size(); ++k) {
    if (merged.chosen[k]) set(over.axes, axis_of(k, merged.extents.size()));
  }
  over.input = emitter.input(x, over.order);
  over.input.shape = shape_of(merged.extents);
  return over;
}

/// Returns the values of a scale or bias of a normalization, and its shape: one value for each
/// position along the normalized axes, or fewer that broadcast.
std::optional<Shape> broadcast_parameter(const Node& node, std::size_t input, const View& x,
                                         const std::vector<bool>& normalized, const OverAxes& over,
                                         std::vector<float>& values) {
  if (!node.has(input)) return {};
  View view = node.input(input);
  if (!view.is_constant()) node.fail("its scale and bias must be constants");
  if (view.rank() > x.rank()) node.fail("its scale or bias has more dimensions than its input");
  while (view.rank() < x.rank()) view = insert_axis(view, 0);
  if (x.rank() > 4) {  // the merged axes have all values, or one
    Dims dims(x.rank(), 1);
    for (std::size_t k = 0; k < dims.size(); ++k) {
      if (normalized[k]) dims[k] = x.dims[k];
    }
    view = expand(view, dims);
    values = floats_of(view, over.order);
    return shape_of(merged_axes(dims, over.order, normalized).extents);
  }
  Dims extents;
  for (const std::size_t axis : over.order) extents.push_back(view.dims[axis]);
  values = floats_of(view, over.order);
  return shape_of(extents);
}

/// Returns true for the axes from the node's attribute on.
std::vector<bool> axes_from(const Node& node, std::size_t rank) {
  const std::size_t first = node.axis(node.integer("axis", -1), rank);
  std::vector<bool> axes(rank, false);
  for (std::size_t axis = first; axis < rank; ++axis) axes[axis] = true;
  return axes;
}

Views layer_normalization(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const std::vector<bool> normalized = axes_from(node, x.rank());
  const OverAxes over = over_axes(emitter, x, normalized);
  Normalization layer;
  layer.axes = over.axes;
  layer.epsilon = node.number("epsilon", 1e-5f);
  ModelWeights::Values parameters;
  layer.scale = broadcast_parameter(node, 1, x, normalized, over, parameters.weights);
  layer.bias = broadcast_parameter(node, 2, x, normalized, over, parameters.bias);
  return {emitter.emit(layer, {over.input}, x.dims, over.order, std::move(parameters))};
}

/// Adds a reduction; the reduced axes keep extent 1.
View reduced(LayerEmitter& emitter, const View& x, Reduce::Function function,
             const std::vector<bool>& axes) {
  Dims dims = x.dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (axes[i]) dims[i] = 1;
  }
  const OverAxes over = over_axes(emitter, x, axes);
  const Reduce layer{function, over.axes};
  const bool average = layer == Reduce{Reduce::Function::kMean, {.h = true, .w = true}};
  if (average && x.rank() == 4)
    return emitter.emit(GlobalAveragePool{}, {over.input}, dims, over.order);
  return emitter.emit(layer, {over.input}, dims, over.order);
}

View without_axes(View view, const std::vector<bool>& axes) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (axes[i]) view = remove_axis(view, i);
  }
  return view;
}

/// Divides by the root of the mean of squares: x / sqrt(mean(x²) + epsilon) · scale.
Views root_mean_square(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const std::vector<bool> normalized = axes_from(node, x.rank());
  const View squares = combine(emitter, Binary::Function::kMul, x, x);
  View root = reduced(emitter, squares, Reduce::Function::kMean, normalized);
  auto epsilon = std::make_shared<Constant>();
  epsilon->floats = {node.number("epsilon", 1e-5f)};
  root = combine(emitter, Binary::Function::kAdd, root, View{std::move(epsilon), {}, {}, 0});
  root = apply(emitter, {Unary::Function::kSqrt, 0, 0}, root);
  const View result = combine(emitter, Binary::Function::kDiv, x, root);
  return {combine(emitter, Binary::Function::kMul, result, node.input(1))};
}

Views local_response(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  LocalResponseNormalization layer;
  layer.size = node.integer("size", 0);
  layer.alpha = node.number("alpha", 1e-4f);
  layer.beta = node.number("beta", 0.75f);
  layer.bias = node.number("bias", 1);
  if (x.rank() < 3) node.fail("takes three dimensions or more");
  const std::vector<std::size_t> order = channels_last(x.rank());
  return {emitter.emit(layer, {emitter.input(x, order)}, x.dims, order)};
}

/// Normalizes one axis; before opset 13, that axis and all after it.
Views softmax(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const bool all = node.opset() < 13;
  if (x.rank() == 0) node.fail("takes one dimension or more");
  const std::size_t first = node.axis(node.integer("axis", all ? 1 : -1), x.rank());
  std::vector<bool> chosen(x.rank(), false);
  for (std::size_t axis = first; axis < (all ? x.rank() : first + 1); ++axis) chosen[axis] = true;
  const OverAxes over = over_axes(emitter, x, chosen);
  const Softmax layer{.axes = over.axes, .log = node.type() == "LogSoftmax"};
  return {emitter.emit(layer, {over.input}, x.dims, over.order)};
}

Reduce::Function reduction_named(const Node& node) {
  using F = Reduce::Function;
  static const std::map<std::string_view, F> kNames = {
      {"ReduceL1", F::kL1},         {"ReduceL2", F::kL2},
      {"ReduceLogSum", F::kLogSum}, {"ReduceMax", F::kMax},
      {"ReduceMean", F::kMean},     {"ReduceLogSumExp", F::kLogSumExp},
      {"ReduceMin", F::kMin},       {"ReduceProd", F::kProd},
      {"ReduceSum", F::kSum},       {"ReduceSumSquare", F::kSumSquare}};
  return kNames.at(node.type());
}

/// Returns whole numbers. A quotient is exact where it is one, a product with 1/n is not.
View reduced_integers(LayerEmitter& emitter, const View& x, Reduce::Function function,
                      const std::vector<bool>& axes) {
  using F = Reduce::Function;
  const bool is_mean = function == F::kMean;
  const View result = reduced(emitter, x, is_mean ? F::kSum : function, axes);
  if (is_mean) {
    const auto most = std::max<std::int64_t>(1, elements(result.dims));
    const auto count = static_cast<float>(elements(x.dims) / most);
    auto values = std::make_shared<Constant>();
    values->floats = {count};
    return truncated(emitter, combine(emitter, Binary::Function::kDiv, result,
                                      View{std::move(values), {}, {}, 0}));
  }
  const bool has_fractions =
      function == F::kL2 || function == F::kLogSum || function == F::kLogSumExp;
  return has_fractions ? truncated(emitter, result) : result;
}

Views reduce(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const std::vector<bool> axes = reduced_axes(node, x.rank());
  const View result = x.type() == Constant::Type::kInteger
                          ? reduced_integers(emitter, x, reduction_named(node), axes)
                          : reduced(emitter, x, reduction_named(node), axes);
  return {node.integer("keepdims", 1) != 0 ? result : without_axes(result, axes)};
}

}  // namespace

View reduce_along(LayerEmitter& emitter, const View& x, Reduce::Function function,
                  const std::vector<bool>& axes) {
  return reduced(emitter, x, function, axes);
}

View sum_along(LayerEmitter& emitter, const View& x, const std::vector<bool>& axes) {
  return without_axes(reduced(emitter, x, Reduce::Function::kSum, axes), axes);
}

// Newer opsets give the axes as an input.
std::vector<bool> reduced_axes(const Node& node, std::size_t rank) {
  std::vector<std::int64_t> axes = node.integer_list("axes").value_or(std::vector<std::int64_t>());
  if (node.has(1)) axes = node.integers(1);
  const bool none = axes.empty() && node.integer("noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(rank, axes.empty() && !none);
  for (const std::int64_t axis : axes) reduced[node.axis(axis, rank)] = true;
  return reduced;
}

void add_normalizations(Operators& operators) {
  const UnreadAttribute in_fp32{"stash_type", {proto::TensorProto::FLOAT}};
  operators["InstanceNormalization"] = {.emit = instance_normalization,
                                        .attributes = {.read = {"epsilon"}}};
  operators["GroupNormalization"] = {
      .emit = group_normalization,
      .attributes = {.read = {"epsilon", "num_groups"}, .unread = {in_fp32}}};
  operators["LayerNormalization"] = {
      .emit = layer_normalization,
      .attributes = {.read = {"axis", "epsilon"}, .unread = {in_fp32}}};
  operators["RMSNormalization"] = {
      .emit = root_mean_square, .attributes = {.read = {"axis", "epsilon"}, .unread = {in_fp32}}};
  operators["LRN"] = {.emit = local_response,
                      .attributes = {.read = {"alpha", "beta", "bias", "size"}}};
  for (const char* type : {"Softmax", "LogSoftmax"})
    operators[type] = {.emit = softmax, .attributes = {.read = {"axis"}}};
}

void add_reductions(Operators& operators) {
  for (const char* type :
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceMax", "ReduceMean", "ReduceLogSumExp",
        "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
    operators[type] = {.emit = reduce,
                       .attributes = {.read = {"axes", "keepdims", "noop_with_empty_axes"}}};
  }
}

}  // namespace hios::onnx
