// Part of hios/onnx/operators/families.h: Resize, and Upsample, its predecessor.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "hios/base/error.h"
#include "hios/model/layer_fields.h"
#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/families.h"
#include "hios/onnx/operators/windows.h"

namespace hios::onnx {
namespace {

/// The scale and the resulting extent of each axis.
struct Growth {
  std::vector<double> scales;
  Dims sizes;
};

std::vector<std::size_t> all_axes(std::size_t rank) {
  std::vector<std::size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  return axes;
}

template <class Enum>
Enum named(const Node& node, const std::string& text) {
  const auto& names = Names<Enum>::kAll;
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) node.fail("'" + printable(text, 40) + "' is not computed");
  return static_cast<Enum>(found - names.begin());
}

/// Returns the axes to which a Resize applies scales and sizes: those of the attribute, or all.
std::vector<std::size_t> scaled_axes(const Node& node, std::size_t rank) {
  const auto list = node.integer_list("axes");
  if (!list) return all_axes(rank);
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : *list) axes.push_back(node.axis(axis, rank));
  return axes;
}

/// Returns the shortest decimal number that rounds to a float: 0.6 for 0.6f. Products with it give
/// whole numbers where the author of the file meant them.
double as_written(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  double written = value;
  std::from_chars(text, end, written);
  return written;
}

Growth growth_of(const Node& node, const View& x, const std::vector<std::size_t>& axes,
                 const std::vector<float>& scales, const std::vector<std::int64_t>& sizes) {
  Growth growth{std::vector<double>(x.rank(), 1.0), x.dims};
  if (scales.empty() == sizes.empty()) node.fail("needs scales, or sizes, and not both");
  if (std::max(scales.size(), sizes.size()) != axes.size()) {
    node.fail("needs as many scales or sizes as axes");
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t in = x.dims[axes[i]];
    double& scale = growth.scales[axes[i]];
    std::int64_t& size = growth.sizes[axes[i]];
    if (!sizes.empty()) {
      size = sizes[i];
      scale = static_cast<double>(size) / static_cast<double>(in);
    } else {
      scale = as_written(scales[i]);
      const double wanted = std::floor(static_cast<double>(in) * scale);
      if (!(wanted >= 1) || wanted > static_cast<double>(kMaxExtent)) {
        node.fail("has a scale of " + std::to_string(scale));
      }
      size = static_cast<std::int64_t>(wanted);
    }
    if (size < 1 || size > kMaxExtent) node.fail("has a size of " + std::to_string(size));
  }
  return growth;
}

/// The filter of an antialiased Resize along an axis, which widens as the axis shrinks. Taps
/// outside count for the border, or not at all (exclude_outside).
struct ResizeFilter {
  const Resize& layer;
  double scale;
  std::int64_t in, out;

  double weight(double distance) const {
    const double x = std::fabs(distance), a = layer.cubic_a;
    if (layer.mode == Resize::Mode::kLinear) return std::max(0.0, 1 - x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
  }
  /// Returns the position in the input, in pixels whose centres are at a half.
  double centre(std::int64_t i) const {
    const auto at = static_cast<double>(i);
    const auto last = [](std::int64_t extent) { return static_cast<double>(extent - 1); };
    switch (layer.coordinates) {
      case Resize::Coordinates::kAlignCorners:
        return (out > 1 ? at * last(in) / last(out) : 0) + 0.5;
      case Resize::Coordinates::kAsymmetric:
        return at / scale + 0.5;
      case Resize::Coordinates::kPytorchHalfPixel:
        return out > 1 ? (at + 0.5) / scale : 0.5;
      default:
        return (at + 0.5) / scale;
    }
  }
  /// Returns the weights of the inputs for each output, row-major.
  View matrix() const {
    const double narrow = std::min(scale, 1.0);
    const double reach = (layer.mode == Resize::Mode::kCubic ? 2 : 1) / narrow;
    Constant values;
    values.floats.resize(static_cast<std::size_t>(fold_size({out, in}, 0)));
    for (std::int64_t i = 0; i < out; ++i) {
      const double from = centre(i);
      const auto begin = static_cast<std::int64_t>(std::floor(from - reach + 0.5)),
                 end = static_cast<std::int64_t>(std::floor(from + reach + 0.5));
      std::vector<double> row(static_cast<std::size_t>(in), 0);
      double sum = 0;
      for (std::int64_t j = begin; j < end; ++j) {
        if (layer.exclude_outside && (j < 0 || j >= in)) continue;
        const double tap = weight((static_cast<double>(j) - from + 0.5) * narrow);
        row[static_cast<std::size_t>(std::clamp<std::int64_t>(j, 0, in - 1))] += tap;
        sum += tap;
      }
      for (std::int64_t j = 0; j < in; ++j) {
        values.floats[static_cast<std::size_t>(i * in + j)] =
            static_cast<float>(row[static_cast<std::size_t>(j)] / sum);
      }
    }
    return constant_view(std::move(values), {out, in});
  }
};

/// Resizes with a filter that widens as the image shrinks: products with matrices, along each axis.
View antialiased(LayerEmitter& emitter, const Node& node, View x, const Resize& layer,
                 const Growth& growth) {
  if (layer.mode == Resize::Mode::kNearest) node.fail("antialias needs the mode linear or cubic");
  if (layer.coordinates == Resize::Coordinates::kHalfPixelSymmetric ||
      layer.coordinates == Resize::Coordinates::kTfHalfPixel) {
    node.fail("antialias is not computed for these coordinates");
  }
  for (std::size_t axis = 2; axis < x.rank(); ++axis) {
    if (growth.sizes[axis] == x.dims[axis] && growth.scales[axis] == 1) continue;
    const ResizeFilter filter{layer, growth.scales[axis], x.dims[axis], growth.sizes[axis]};
    std::vector<std::size_t> axes = all_axes(x.rank());
    std::swap(axes[axis], axes.back());
    x = transpose(multiply_rows(emitter, transpose(x, axes), filter.matrix(), {}), axes);
  }
  return x;
}

View resized(LayerEmitter& emitter, const Node& node, const View& given, Resize layer,
             const Growth& growth, bool antialias) {
  if (given.rank() != 3 && given.rank() != 4) node.fail("resizes three or four dimensions here");
  const std::size_t last = given.rank() - 1;
  const auto stays = [&](std::size_t axis) {
    return growth.sizes[axis] == given.dims[axis] && growth.scales[axis] == 1;
  };
  if (!stays(0) || !stays(1))
    node.fail("resizes the batch or channels; only height and width are resized");
  for (std::size_t i = 2; i < given.rank(); ++i) {
    const double wanted = static_cast<double>(given.dims[i]) * growth.scales[i];
    const auto size = static_cast<double>(growth.sizes[i]);
    // ONNX aligns with the wanted extent, ONNX Runtime with that of the output.
    if (layer.coordinates == Resize::Coordinates::kAlignCorners &&
        std::fabs(wanted - size) > 1e-4) {
      node.fail(
          "aligns the corners of an extent that is no whole number, which has two interpretations");
    }
  }
  if (antialias) return antialiased(emitter, node, given, layer, growth);
  const View x = as_image(emitter, given);
  layer.size = {given.rank() == 4 ? growth.sizes[2] : 1, growth.sizes[last]};
  layer.scale_h = given.rank() == 4 ? growth.scales[2] : 1;
  layer.scale_w = growth.scales[last];
  const Dims dims{x.dims[0], x.dims[1], layer.size.h, layer.size.w};
  return as_rank(emitter.emit(layer, {emitter.image(x)}, dims), given.rank());
}

/// Returns the rounding of coordinates, which opset 10 left open: ONNX Runtime rounds up where it
/// shrinks.
Resize::Nearest opset_10_rounding(const Node& node) {
  const std::vector<float> scales = node.floats(1);
  const bool shrinks = std::ranges::any_of(scales, [](float scale) { return scale < 1; });
  const bool grows = std::ranges::any_of(scales, [](float scale) { return scale > 1; });
  if (shrinks && grows) node.fail("shrinks one axis and enlarges another");
  return shrinks ? Resize::Nearest::kCeil : Resize::Nearest::kFloor;
}

Views resize(LayerEmitter& emitter, const Node& node) {
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch")
    node.fail("keep_aspect_ratio_policy " + printable(policy, 40) + " is not computed");
  Resize layer;
  layer.mode = named<Resize::Mode>(node, node.text("mode", "nearest"));
  const bool first = node.opset() < 11;
  layer.coordinates = named<Resize::Coordinates>(
      node, node.text("coordinate_transformation_mode", first ? "asymmetric" : "half_pixel"));
  layer.nearest = named<Resize::Nearest>(
      node, node.text("nearest_mode", first ? "floor" : "round_prefer_floor"));
  layer.cubic_a = node.number("cubic_coeff_a", -0.75f);
  layer.exclude_outside = node.integer("exclude_outside", 0) != 0;
  if (first && layer.mode == Resize::Mode::kNearest) layer.nearest = opset_10_rounding(node);
  const std::size_t at = first ? 1 : 2;
  const std::vector<float> scales = node.has(at) ? node.floats(at) : std::vector<float>();
  const std::vector<std::int64_t> sizes =
      node.has(3) ? node.integers(3) : std::vector<std::int64_t>();
  const View& x = node.input(0);
  return {resized(emitter, node, x, layer,
                  growth_of(node, x, scaled_axes(node, x.rank()), scales, sizes),
                  node.integer("antialias", 0) != 0)};
}

Views upsample(LayerEmitter& emitter, const Node& node) {
  Resize layer;
  layer.mode = named<Resize::Mode>(node, node.text("mode", "nearest"));
  layer.coordinates = Resize::Coordinates::kAsymmetric;
  layer.nearest = Resize::Nearest::kFloor;
  const std::vector<float> scales =
      node.has(1) ? node.floats(1) : node.number_list("scales").value_or(std::vector<float>());
  const View& x = node.input(0);
  return {
      resized(emitter, node, x, layer, growth_of(node, x, all_axes(x.rank()), scales, {}), false)};
}

}  // namespace

void add_resizes(Operators& operators) {
  operators["Resize"] = {
      .emit = resize,
      .attributes = {
          .read = {"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a",
                   "exclude_outside", "keep_aspect_ratio_policy", "mode", "nearest_mode"},
          .unread = {{"extrapolation_value"}}}};  // only for tf_crop_and_resize
  operators["Upsample"] = {.emit = upsample, .attributes = {.read = {"mode", "scales"}}};
}

}  // namespace hios::onnx
