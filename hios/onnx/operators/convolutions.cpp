// Part of hios/onnx/operators/families.h: convolutions, and the scale and shift of channels, which
// become one.
#include <algorithm>
#include <cmath>

#include "hios/model/infer_shape.h"
#include "hios/onnx/operators/families.h"
#include "hios/onnx/operators/windows.h"

namespace hios::onnx {
namespace {

std::vector<float> bias_of(const Node& node, std::size_t input, std::int64_t channels) {
  if (!node.has(input)) return {};
  std::vector<float> bias = node.floats(input);
  if (static_cast<std::int64_t>(bias.size()) != channels) {
    node.fail("its bias has " + std::to_string(bias.size()) + " values for " +
              std::to_string(channels) + " channels");
  }
  return bias;
}

/// Returns the weights as (a, b, h, w).
View filter_of(const LayerEmitter& emitter, const Node& node, std::size_t rank) {
  const View& view = node.input(1);
  if (view.rank() != rank) node.fail("its weights must have as many dimensions as its input");
  elements(view.dims);
  return as_image(emitter, view);
}

std::int64_t groups_of(const Node& node) {
  const std::int64_t groups = node.integer("group", 1);
  if (groups < 1 || groups > kMaxExtent) node.fail("needs at least one group");
  return groups;
}

Views conv(LayerEmitter& emitter, const Node& node) {
  const std::size_t rank = node.input(0).rank();
  const std::int64_t groups = groups_of(node);
  if (rank == 5) return {convolve_volume(emitter, node, groups)};
  const View x = as_image(emitter, node.input(0));
  const View filter = filter_of(emitter, node, rank);
  const Extent extent{x.dims[2], x.dims[3]};
  const Window window = window_of(node, rank, extent, Extent{filter.dims[2], filter.dims[3]});
  if (!filter.is_constant() || (node.has(2) && !node.input(2).is_constant())) {
    const View result = convolve_by_tensor(emitter, x, filter, window, groups);
    return {as_rank(result, rank)};
  }
  ModelWeights::Values parameters{emitter.take_floats(filter), bias_of(node, 2, filter.dims[0])};
  return {as_rank(convolve(emitter, x, filter.dims, std::move(parameters), window, groups), rank)};
}

/// Sets the padding that leads to the output's extent, if the node gives that.
void set_output_extent(const Node& node, const Extent& in, ConvTranspose& layer) {
  const auto spatial = node.integer_list("output_shape");
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (!spatial && mode != "SAME_UPPER" && mode != "SAME_LOWER") return;
  Extent wanted{in.h * layer.stride.h, in.w * layer.stride.w};
  if (spatial) {
    const bool fits = std::ranges::all_of(
        *spatial, [](std::int64_t extent) { return extent >= 1 && extent <= kMaxExtent; });
    if (spatial->empty() || spatial->size() > 2 || !fits) {
      node.fail("its output_shape must name height and width");
    }
    wanted =
        spatial->size() == 1 ? Extent{1, spatial->front()} : Extent{(*spatial)[0], (*spatial)[1]};
  }
  const auto cut = [&](std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                       std::int64_t dilation, std::int64_t added, std::int64_t to) {
    const std::int64_t whole = (extent - 1) * stride + (kernel - 1) * dilation + 1 + added;
    return whole - to;
  };
  const std::int64_t h = cut(in.h, layer.kernel.h, layer.stride.h, layer.dilation.h,
                             layer.output_padding.h, wanted.h),
                     w = cut(in.w, layer.kernel.w, layer.stride.w, layer.dilation.w,
                             layer.output_padding.w, wanted.w);
  // Where a larger output is wanted, zeros (plus the bias) are added at the end.
  layer.output_padding.h += std::max<std::int64_t>(0, -h);
  layer.output_padding.w += std::max<std::int64_t>(0, -w);
  const std::int64_t off_h = std::max<std::int64_t>(0, h), off_w = std::max<std::int64_t>(0, w);
  const Extent less{off_h / 2, off_w / 2}, more{off_h - off_h / 2, off_w - off_w / 2};
  layer.padding = mode == "SAME_UPPER" ? Padding(less, more) : Padding(more, less);
}

Views conv_transpose(LayerEmitter& emitter, const Node& node) {
  if (node.input(0).rank() == 5) return {spread_volume(emitter, node, groups_of(node))};
  const View x = as_image(emitter, node.input(0));
  const std::size_t rank = node.input(0).rank();
  const View filter = filter_of(emitter, node, rank);
  if (!filter.is_constant()) node.fail("its weights must be constants");
  ConvTranspose layer;
  layer.groups = groups_of(node);
  layer.out_channels = filter.dims[1] * layer.groups;
  if (filter.dims[0] != x.dims[1]) {
    node.fail("its weights are for " + std::to_string(filter.dims[0]) +
              " channels, its input has " + std::to_string(x.dims[1]));
  }
  const Extent in{x.dims[2], x.dims[3]};
  const Window window = window_of(node, rank, in, Extent{filter.dims[2], filter.dims[3]});
  set_window(layer, window);
  if (const auto more = node.integer_list("output_padding")) {
    if (more->size() != rank - 2 ||
        std::ranges::any_of(*more, [](auto v) { return v < 0 || v > kMaxExtent; })) {
      node.fail("its output_padding must be 0 or more in height and width");
    }
    layer.output_padding = rank == 3 ? Extent{0, more->front()} : Extent{(*more)[0], (*more)[1]};
  }
  set_output_extent(node, in, layer);
  ModelWeights::Values parameters{emitter.take_floats(filter),
                                  bias_of(node, 2, layer.out_channels)};
  layer.bias = !parameters.bias.empty();
  const LayerInput image = emitter.image(x);
  const Shape out = infer_shape(layer, {&image.shape, 1});
  return {as_rank(emitter.emit(layer, {image}, {out.n, out.c, out.h, out.w}, std::move(parameters)),
                  rank)};
}

/// Normalizes constants by their own mean and variance, as networks standardise their weights.
View standardised(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  std::vector<std::size_t> order{0};
  for (std::size_t axis = 2; axis < x.rank(); ++axis) order.push_back(axis);
  order.push_back(1);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    node.input(i);  // fails if it is absent; bias_of() would not
  const Shape channels{1, x.dims[1], 1, 1};
  const Normalization layer{.axes = {.n = true, .h = true, .w = true},
                            .epsilon = node.number("epsilon", 1e-5f),
                            .scale = channels,
                            .bias = channels};
  return emitter.emit(layer, {emitter.input(x, order)}, x.dims, order,
                      {bias_of(node, 1, x.dims[1]), bias_of(node, 2, x.dims[1])});
}

/// Uses the running mean and variance: training mode is read for constants only.
Views batch_normalization(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const bool training = node.integer("training_mode", 0) != 0 || node.wants_output(1);
  if (training && x.is_constant() && x.rank() >= 2) return {standardised(emitter, node)};
  if (training) node.fail("is in training mode: export the network for inference");
  if (x.rank() < 2) node.fail("takes two dimensions or more");
  // 0, of opsets before 9: a mean for each pixel, not each channel.
  if (node.integer("spatial", 1) != 1 && x.rank() > 2)
    node.fail("its attribute 'spatial' is read as 1 only where there are pixels");
  const std::int64_t channels = x.dims[1];
  std::vector<float> of[4];  // scale, shift, mean, variance
  for (std::size_t i = 0; i < 4; ++i) {
    node.input(i + 1);  // fails if it is absent; bias_of() would accept that
    of[i] = bias_of(node, i + 1, channels);
  }
  const double epsilon = node.number("epsilon", 1e-5f);
  ModelWeights::Values parameters;
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const double factor = of[0].at(c) / std::sqrt(double{of[3].at(c)} + epsilon);
    parameters.weights.push_back(static_cast<float>(factor));
    parameters.bias.push_back(static_cast<float>(of[1].at(c) - of[2].at(c) * factor));
  }
  std::vector<std::size_t> order{0};
  for (std::size_t axis = 2; axis < x.rank(); ++axis) order.push_back(axis);
  order.push_back(1);
  Conv layer;
  layer.out_channels = layer.groups = channels;
  const LayerInput input = emitter.input(x, order);
  return {emitter.emit(layer, {input}, x.dims, order, std::move(parameters), true)};
}

}  // namespace

View convolve(LayerEmitter& emitter, const View& x, const Dims& filter,
              ModelWeights::Values parameters, const Window& window, std::int64_t groups) {
  check_channels(emitter, x, filter, groups);
  Conv layer;
  layer.out_channels = filter[0];
  set_window(layer, window);
  layer.groups = groups;
  layer.bias = !parameters.bias.empty();
  const LayerInput image = emitter.image(x);
  const Shape out = infer_shape(layer, {&image.shape, 1});
  return emitter.emit(layer, {image}, {out.n, out.c, out.h, out.w}, std::move(parameters));
}

void check_channels(const LayerEmitter& emitter, const View& x, const Dims& filter,
                    std::int64_t groups) {
  if (filter[1] * groups == x.dims[1]) return;
  emitter.fail("its weights are for " + std::to_string(filter[1]) + " channels in each of " +
               std::to_string(groups) + " groups, its input has " + std::to_string(x.dims[1]));
}

void add_convolutions(Operators& operators) {
  operators["Conv"] = {.emit = conv, .attributes = {.read = window_attributes({"group"})}};
  operators["ConvTranspose"] = {
      .emit = conv_transpose,
      .attributes = {.read = window_attributes({"group", "output_padding", "output_shape"})}};
  // The momentum is for training; before opset 7, is_test said that there is none.
  operators["BatchNormalization"] = {.emit = batch_normalization,
                                     .attributes = {.read = {"epsilon", "spatial", "training_mode"},
                                                    .unread = {{"momentum"}, {"is_test", {1}}}}};
}

}  // namespace hios::onnx
