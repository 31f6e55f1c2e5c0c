// Part of hios/onnx/operators/windows.h: convolutions and pools that no layer computes alone. One
// of three spatial dimensions is a sum (or a maximum) over its taps of depth, each an image layer
// on the slices that it reads; depth becomes part of the batch. A transposed one computes the taps
// of depth as channels, and adds them where they overlap. One whose weights are computed is a
// product of matrices: the windows, written out, and the weights. Col2Im, which adds windows where
// they overlap, is a transposed convolution whose weights are a one at each tap.
#include <algorithm>
#include <limits>

#include "hios/model/infer_shape.h"
#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"
#include "hios/onnx/operators/windows.h"

namespace hios::onnx {
namespace {

/// The window along the axis of depth.
struct DepthWindow {
  std::int64_t kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;

  std::int64_t positions(std::int64_t extent) const {
    return (extent + before + after - (kernel - 1) * dilation - 1) / stride + 1;
  }
};

/// A window over depth, height and width.
struct VolumeWindow {
  DepthWindow depth;
  Window image;
};

std::vector<std::int64_t> three(const Node& node, const char* attribute, std::int64_t or_else,
                                std::int64_t least, std::size_t count = 3) {
  const auto list = node.integer_list(attribute);
  if (!list) return std::vector<std::int64_t>(count, or_else);
  const bool in_range = std::ranges::all_of(
      *list, [&](std::int64_t value) { return value >= least && value <= kMaxExtent; });
  if (list->size() != count || !in_range) {
    node.fail(std::string("its ") + attribute + " must be " + std::to_string(count) +
              " numbers of at least " + std::to_string(least));
  }
  return *list;
}

/// Returns the node's window. `slides`: over the input, which it must not be larger than; else over
/// the output.
VolumeWindow volume_window(const Node& node, const View& x, const std::vector<std::int64_t>& kernel,
                           bool slides = true) {
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID") node.fail("its auto_pad is not read for volumes");
  const auto stride = three(node, "strides", 1, 1), dilation = three(node, "dilations", 1, 1);
  auto pads = three(node, "pads", 0, 0, 6);
  if (mode == "VALID") pads.assign(6, 0);
  VolumeWindow window{{kernel[0], stride[0], dilation[0], pads[0], pads[3]},
                      {{kernel[1], kernel[2]},
                       {stride[1], stride[2]},
                       {dilation[1], dilation[2]},
                       {Extent{pads[1], pads[2]}, Extent{pads[4], pads[5]}}}};
  const DepthWindow& depth = window.depth;
  if (slides && (depth.kernel - 1) * depth.dilation + 1 > x.dims[2] + depth.before + depth.after)
    node.fail("its kernel is deeper than its input");
  return window;
}

/// Returns the slices of (N, C, D, H, W) that a tap of the depth window reads, as images.
View images_at(LayerEmitter& emitter, const View& x, const DepthWindow& depth, std::int64_t tap) {
  const std::int64_t count = (x.dims[2] - (depth.kernel - 1) * depth.dilation - 1) / depth.stride;
  const View read = slice(x, 2, tap * depth.dilation, count + 1, depth.stride);
  static constexpr std::size_t kDepthFirst[] = {0, 2, 1, 3, 4};
  const View first = transpose(read, kDepthFirst);
  const Dims& dims = first.dims;
  return reshape_to(emitter, first, {dims[0] * dims[1], dims[2], dims[3], dims[4]});
}

/// Returns images as (N, C, D, H, W) again.
View volumes_of(LayerEmitter& emitter, const View& images, std::int64_t batch) {
  const Dims& dims = images.dims;
  const View first =
      reshape_to(emitter, images, {batch, dims[0] / batch, dims[1], dims[2], dims[3]});
  static constexpr std::size_t kChannelsFirst[] = {0, 2, 1, 3, 4};
  return transpose(first, kChannelsFirst);
}

}  // namespace

View windows_along(const View& x, std::size_t axis, std::int64_t kernel, std::int64_t stride,
                   std::int64_t dilation) {
  View result = x;
  result.dims[axis] = (x.dims[axis] - (kernel - 1) * dilation - 1) / stride + 1;
  result.strides[axis] = x.strides[axis] * stride;
  result.dims.push_back(kernel);
  result.strides.push_back(x.strides[axis] * dilation);
  return result;
}

View convolve_by_tensor(LayerEmitter& emitter, const View& x, const View& filter,
                        const Window& window, std::int64_t groups) {
  check_channels(emitter, x, filter.dims, groups);
  const Padding& padding = window.padding;
  View image = padded_along(emitter, x, 2, padding.begin.h, padding.end.h, 0);
  image = padded_along(emitter, image, 3, padding.begin.w, padding.end.w, 0);
  const std::int64_t inner = filter.dims[1] * filter.dims[2] * filter.dims[3];
  if ((window.kernel.h - 1) * window.dilation.h >= image.dims[2] ||
      (window.kernel.w - 1) * window.dilation.w >= image.dims[3]) {
    emitter.fail("its kernel is larger than its input");
  }
  View windows = windows_along(image, 2, window.kernel.h, window.stride.h, window.dilation.h);
  windows = windows_along(windows, 3, window.kernel.w, window.stride.w, window.dilation.w);
  const Dims dims = windows.dims;  // N, C, rows, columns, kernel's height and width
  const View grouped = reshape_to(
      emitter, windows, {dims[0], groups, dims[1] / groups, dims[2], dims[3], dims[4], dims[5]});
  static constexpr std::size_t kPixelsFirst[] = {0, 1, 3, 4, 2, 5, 6};
  const View rows = reshape_to(emitter, transpose(grouped, kPixelsFirst),
                               {dims[0], groups, dims[2] * dims[3], inner});
  const std::int64_t out = filter.dims[0];
  static constexpr std::size_t kTransposed[] = {0, 2, 1};
  const View columns =
      transpose(reshape_to(emitter, filter, {groups, out / groups, inner}), kTransposed);
  const View product = matrix_product(emitter, rows, insert_axis(columns, 0));
  static constexpr std::size_t kChannelsFirst[] = {0, 1, 3, 2};
  const View result =
      reshape_to(emitter, transpose(product, kChannelsFirst), {dims[0], out, dims[2], dims[3]});
  const Node& node = emitter.node();
  if (!node.has(2)) return result;
  if (elements(node.input(2).dims) != out) node.fail("its bias must have a value for each channel");
  return combine(emitter, Binary::Function::kAdd, result,
                 reshape_to(emitter, node.input(2), {out, 1, 1}));
}

View convolve_volume(LayerEmitter& emitter, const Node& node, std::int64_t groups) {
  const View& filter = node.input(1);
  if (filter.rank() != 5) node.fail("its weights must have as many dimensions as its input");
  if (!filter.is_constant()) node.fail("its weights must be constants");
  check_channels(emitter, node.input(0), filter.dims, groups);
  const std::vector<std::int64_t> kernel(filter.dims.begin() + 2, filter.dims.end());
  if (three(node, "kernel_shape", 0, 1) != kernel && node.has_attribute("kernel_shape"))
    node.fail("its kernel_shape is not that of its weights");
  const VolumeWindow window = volume_window(node, node.input(0), kernel);
  const DepthWindow& depth = window.depth;
  const View x = padded_along(emitter, node.input(0), 2, depth.before, depth.after, 0);
  std::vector<float> bias = node.has(2) ? node.floats(2) : std::vector<float>();
  if (!bias.empty() && static_cast<std::int64_t>(bias.size()) != filter.dims[0])
    node.fail("its bias must have a value for each channel");
  std::vector<LayerInput> terms;
  View sum;
  for (std::int64_t tap = 0; tap < depth.kernel; ++tap) {
    const View weights = remove_axis(slice(filter, 2, tap, 1, 1), 2);
    sum = convolve(emitter, images_at(emitter, x, depth, tap), weights.dims,
                   {floats_of(weights), std::move(bias)}, window.image, groups);
    bias.clear();
    terms.push_back(emitter.image(sum));
  }
  if (terms.size() > 1) sum = emitter.emit(Sum{}, terms, sum.dims);
  return volumes_of(emitter, sum, x.dims[0]);
}

View spread_volume(LayerEmitter& emitter, const Node& node, std::int64_t groups) {
  const View &x = node.input(0), &filter = node.input(1);
  if (filter.rank() != 5) node.fail("its weights must have as many dimensions as its input");
  if (!filter.is_constant()) node.fail("its weights must be constants");
  if (filter.dims[0] != x.dims[1]) node.fail("its weights are for another number of channels");
  if (node.has_attribute("output_shape")) node.fail("its output_shape is not read for volumes");
  const std::vector<std::int64_t> kernel(filter.dims.begin() + 2, filter.dims.end());
  if (three(node, "kernel_shape", 0, 1) != kernel && node.has_attribute("kernel_shape"))
    node.fail("its kernel_shape is not that of its weights");
  const VolumeWindow window = volume_window(node, x, kernel, /*slides=*/false);
  const auto more = three(node, "output_padding", 0, 0);
  const std::int64_t channels = filter.dims[1] * groups, depth = x.dims[2], taps = kernel[0];
  // Neighbouring channels are the taps of depth of one output channel: so the weights lie, too.
  ConvTranspose slices;
  slices.out_channels = channels * taps;
  slices.output_padding = {more[1], more[2]};
  slices.groups = groups;
  slices.bias = false;
  set_window(slices, window.image);
  static constexpr std::size_t kDepthFirst[] = {0, 2, 1, 3, 4};
  const View images = reshape_to(emitter, transpose(x, kDepthFirst),
                                 {x.dims[0] * depth, x.dims[1], x.dims[3], x.dims[4]});
  const LayerInput image = emitter.image(images);
  const Shape out = infer_shape(slices, {&image.shape, 1});
  const View made = emitter.emit(slices, {image}, {out.n, out.c, out.h, out.w},
                                 ModelWeights::Values{floats_of(filter), {}});
  ConvTranspose overlap{.out_channels = channels,
                        .kernel = {taps, 1},
                        .stride = {window.depth.stride, 1},
                        .padding = {Extent{window.depth.before, 0}, Extent{window.depth.after, 0}},
                        .output_padding = {more[0], 0},
                        .groups = channels,
                        .bias = node.has(2),
                        .dilation = {window.depth.dilation, 1}};
  ModelWeights::Values ones{{}, node.has(2) ? node.floats(2) : std::vector<float>()};
  if (node.has(2) && static_cast<std::int64_t>(ones.bias.size()) != channels)
    node.fail("its bias must have a value for each channel");
  for (std::int64_t i = 0; i < channels * taps * taps; ++i)
    ones.weights.push_back(i / taps % taps == i % taps ? 1.0f : 0.0f);
  const View columns = reshape_to(emitter, volumes_of(emitter, made, x.dims[0]),
                                  {x.dims[0], channels * taps, depth, out.h * out.w});
  const LayerInput stack = emitter.image(columns);
  const std::int64_t deep = infer_shape(overlap, {&stack.shape, 1}).h;
  const View sum =
      emitter.emit(overlap, {stack}, {x.dims[0], channels, deep, out.h * out.w}, std::move(ones));
  return reshape_to(emitter, sum, {x.dims[0], channels, deep, out.h, out.w});
}

View pool_volume(LayerEmitter& emitter, const Node& node, const Pool& pool) {
  if (!node.has_attribute("kernel_shape")) node.fail("lacks its kernel_shape");
  const VolumeWindow window = volume_window(node, node.input(0), three(node, "kernel_shape", 1, 1));
  const DepthWindow& depth = window.depth;
  const bool average = pool.kind == Pool::Kind::kAverage;
  if (node.integer("ceil_mode", 0) != 0) node.fail("its ceil_mode is not computed for volumes");
  Pool layer = pool;
  set_window(layer, window.image);
  layer.count_padding = average && node.integer("count_include_pad", 0) != 0;
  if (average && !layer.count_padding && depth.before + depth.after > 0)
    node.fail("its average leaves out padding in depth, which is not computed");
  if (layer.padding == Padding{}) layer.count_padding = false;
  const View x = padded_along(emitter, node.input(0), 2, depth.before, depth.after,
                              average ? 0 : -std::numeric_limits<float>::infinity());
  View result;
  for (std::int64_t tap = 0; tap < depth.kernel; ++tap) {
    const LayerInput image = emitter.image(images_at(emitter, x, depth, tap));
    const Shape out = infer_shape(layer, {&image.shape, 1});
    const View pooled = emitter.emit(layer, {image}, {out.n, out.c, out.h, out.w});
    const auto function = average ? Binary::Function::kAdd : Binary::Function::kMax;
    result = tap == 0 ? pooled : combine(emitter, function, result, pooled);
  }
  if (average && depth.kernel > 1)
    result = combine(emitter, Binary::Function::kDiv, result,
                     number_view(static_cast<double>(depth.kernel)));
  return volumes_of(emitter, result, x.dims[0]);
}

namespace {

Extent pair_of(const Node& node, std::size_t input) {
  const std::vector<std::int64_t> values = node.integers(input);
  const bool in_range = std::ranges::all_of(
      values, [](std::int64_t value) { return value >= 1 && value <= kMaxExtent; });
  if (values.size() != 2 || !in_range) node.fail("is read for images: height and width");
  return {values[0], values[1]};
}

Views overlapped(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const Extent image = pair_of(node, 1), block = pair_of(node, 2);
  const auto stride = three(node, "strides", 1, 1, 2), dilation = three(node, "dilations", 1, 1, 2),
             pads = three(node, "pads", 0, 0, 4);
  ConvTranspose layer{.out_channels = 1,
                      .kernel = block,
                      .stride = {stride[0], stride[1]},
                      .padding = {Extent{pads[0], pads[1]}, Extent{pads[2], pads[3]}},
                      .groups = 1,
                      .bias = false,
                      .dilation = {dilation[0], dilation[1]}};
  const std::int64_t taps = block.h * block.w;
  if (x.rank() != 3 || x.dims[1] % taps != 0) node.fail("takes the windows of channels");
  layer.out_channels = layer.groups = x.dims[1] / taps;
  // The windows along an axis, and the rows or columns that none reaches at its end.
  const auto fit = [&](std::int64_t extent, std::int64_t kernel, std::size_t axis) {
    const std::int64_t room = extent + pads[axis] + pads[axis + 2] - (kernel - 1) * dilation[axis];
    if (room < 1) node.fail("its windows are larger than its image");
    return std::pair((room - 1) / stride[axis] + 1, (room - 1) % stride[axis]);
  };
  const auto [rows, below] = fit(image.h, block.h, 0);
  const auto [columns, right] = fit(image.w, block.w, 1);
  layer.output_padding = {below, right};
  if (rows * columns != x.dims[2]) node.fail("has another number of windows than fit its image");
  ModelWeights::Values ones;
  for (std::int64_t i = 0; i < fold_size({x.dims[1], taps}, 0); ++i)
    ones.weights.push_back(i / taps % taps == i % taps ? 1.0f : 0.0f);
  const View windows = reshape_to(emitter, x, {x.dims[0], x.dims[1], rows, columns});
  return {emitter.emit(layer, {emitter.image(windows)},
                       {x.dims[0], layer.out_channels, image.h, image.w}, std::move(ones))};
}

}  // namespace

void add_overlaps(Operators& operators) {
  operators["Col2Im"] = {.emit = overlapped,
                         .attributes = {.read = {"dilations", "pads", "strides"}}};
}

}  // namespace hios::onnx
