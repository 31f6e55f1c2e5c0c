#include "hios/model/infer_shape.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hios/base/error.h"

namespace hios {
namespace {

/// 2^40 values are 4 TiB: such a size is a typing error.
constexpr double kMaxElements = 0x1.0p40;

std::string extent_text(const Extent& extent) {
  return std::to_string(extent.h) + "x" + std::to_string(extent.w);
}

void check_extent(const Extent& extent, std::int64_t least, const char* what) {
  if (std::min(extent.h, extent.w) < least || std::max(extent.h, extent.w) > kMaxExtent) {
    throw InputError(std::string(what) + " " + extent_text(extent) + " is outside " +
                     std::to_string(least) + " … " + std::to_string(kMaxExtent));
  }
}

void check_padding(const Padding& padding) {
  check_extent(padding.begin, 0, "padding");
  check_extent(padding.end, 0, "padding");
}

void check_shape(const Shape& shape, const char* what) {
  const auto [least, most] = std::minmax({shape.n, shape.c, shape.h, shape.w});
  const double elements = static_cast<double>(shape.n) * static_cast<double>(shape.c) *
                          static_cast<double>(shape.h) * static_cast<double>(shape.w);
  if (least < 1) throw InputError(std::string(what) + " " + shape.to_string() + " is empty");
  if (elements > kMaxElements) {
    throw InputError(std::string(what) + " " + shape.to_string() +
                     " would hold more than 2^40 values");
  }
  if (most > kMaxExtent) {
    throw InputError(std::string(what) + " " + shape.to_string() + " has an extent above " +
                     std::to_string(kMaxExtent));
  }
}

void check_count(std::span<const Shape> inputs, std::size_t count) {
  if (inputs.size() == count) return;
  throw InputError("takes " + std::string(count == 1 ? "one input" : "two inputs") + ", not " +
                   std::to_string(inputs.size()));
}

const Shape& only(std::span<const Shape> inputs) {
  check_count(inputs, 1);
  return inputs.front();
}

void check_groups(std::int64_t groups, std::int64_t in_channels, std::int64_t out_channels) {
  if (groups < 1 || out_channels < 1 || out_channels > kMaxExtent) {
    throw InputError("needs at least one group and 1 … " + std::to_string(kMaxExtent) +
                     " output channels");
  }
  if (in_channels % groups == 0 && out_channels % groups == 0) return;
  throw InputError("its " + std::to_string(groups) + " groups must divide " +
                   std::to_string(in_channels) + " input and " + std::to_string(out_channels) +
                   " output channels");
}

/// Returns the output height and width of a convolution or a pool.
template <class Windowed>
Extent slide(const Shape& in, const Windowed& layer, bool ceil) {
  check_extent(layer.kernel, 1, "kernel");
  check_extent(layer.stride, 1, "stride");
  check_extent(layer.dilation, 1, "dilation");
  check_padding(layer.padding);
  const auto& [begin, end] = std::pair(layer.padding.begin, layer.padding.end);
  const Extent padded{in.h + begin.h + end.h, in.w + begin.w + end.w};
  const Extent window{(layer.kernel.h - 1) * layer.dilation.h + 1,
                      (layer.kernel.w - 1) * layer.dilation.w + 1};
  if (window.h > padded.h || window.w > padded.w) {
    throw InputError("its kernel " + extent_text(window) + " does not fit into its padded input " +
                     extent_text(padded) + "; give the network a larger input");
  }
  const auto positions = [ceil](std::int64_t in_extent, std::int64_t before, std::int64_t rest,
                                std::int64_t stride) {
    const std::int64_t floor = rest / stride + 1;
    const bool one_more = ceil && rest % stride != 0 && floor * stride < in_extent + before;
    return floor + (one_more ? 1 : 0);
  };
  return {positions(in.h, begin.h, padded.h - window.h, layer.stride.h),
          positions(in.w, begin.w, padded.w - window.w, layer.stride.w)};
}

Shape infer(const Conv& conv, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  check_groups(conv.groups, in.c, conv.out_channels);
  const Extent out = slide(in, conv, false);
  const double weights = static_cast<double>(conv.out_channels) *
                         static_cast<double>(in.c / conv.groups) *
                         static_cast<double>(conv.kernel.h) * static_cast<double>(conv.kernel.w);
  if (weights > kMaxElements) throw InputError("its weights would hold more than 2^40 values");
  return {in.n, conv.out_channels, out.h, out.w};
}

Shape infer(const ConvTranspose& conv, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  check_groups(conv.groups, in.c, conv.out_channels);
  check_extent(conv.kernel, 1, "kernel");
  check_extent(conv.stride, 1, "stride");
  check_extent(conv.dilation, 1, "dilation");
  check_extent(conv.output_padding, 0, "output padding");
  check_padding(conv.padding);
  const double weights = static_cast<double>(in.c) *
                         static_cast<double>(conv.out_channels / conv.groups) *
                         static_cast<double>(conv.kernel.h) * static_cast<double>(conv.kernel.w);
  if (weights > kMaxElements) throw InputError("its weights would hold more than 2^40 values");
  const Padding& padding = conv.padding;
  return {in.n, conv.out_channels,
          (in.h - 1) * conv.stride.h + (conv.kernel.h - 1) * conv.dilation.h + 1 +
              conv.output_padding.h - padding.begin.h - padding.end.h,
          (in.w - 1) * conv.stride.w + (conv.kernel.w - 1) * conv.dilation.w + 1 +
              conv.output_padding.w - padding.begin.w - padding.end.w};
}

/// Returns true if each of `windows` along an axis has a place within the input. A dilated window
/// that begins in the padding may pass over it; of those that begin later, only the last matters.
bool all_meet(std::int64_t input, std::int64_t windows, std::int64_t kernel, std::int64_t stride,
              std::int64_t dilation, std::int64_t padding) {
  for (std::int64_t begin = -padding; begin < 0 && windows > 0; begin += stride, --windows) {
    const std::int64_t skipped = (-begin + dilation - 1) / dilation;
    if (skipped >= kernel || begin + skipped * dilation >= input) return false;
  }
  const std::int64_t in_padding = (padding + stride - 1) / stride;
  return windows <= 0 || (in_padding + windows - 1) * stride - padding < input;
}

Shape infer(const Pool& pool, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  const Extent out = slide(in, pool, pool.ceil);
  const auto lies_in_padding = [&](std::int64_t padding, std::int64_t kernel,
                                   std::int64_t dilation) {
    return padding > (kernel - 1) * dilation;
  };
  for (const Extent& padding : {pool.padding.begin, pool.padding.end}) {
    if (!lies_in_padding(padding.h, pool.kernel.h, pool.dilation.h) &&
        !lies_in_padding(padding.w, pool.kernel.w, pool.dilation.w)) {
      continue;
    }
    throw InputError("a window of its kernel " + extent_text(pool.kernel) +
                     " would lie wholly in the padding " + extent_text(padding));
  }
  if (!all_meet(in.h, out.h, pool.kernel.h, pool.stride.h, pool.dilation.h, pool.padding.begin.h) ||
      !all_meet(in.w, out.w, pool.kernel.w, pool.stride.w, pool.dilation.w, pool.padding.begin.w)) {
    throw InputError("a window of its kernel " + extent_text(pool.kernel) + ", dilated by " +
                     extent_text(pool.dilation) + ", would pass over its input " +
                     extent_text({in.h, in.w}));
  }
  return {in.n, in.c, out.h, out.w};
}

Shape infer(const GlobalAveragePool&, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  return {in.n, in.c, 1, 1};
}

Shape infer(const Relu&, std::span<const Shape> inputs) { return only(inputs); }
Shape infer(const Unary&, std::span<const Shape> inputs) { return only(inputs); }

Shape infer(const Sum&, std::span<const Shape> inputs) {
  if (inputs.empty()) throw InputError("sums nothing; give it an input");
  for (const Shape& in : inputs) {
    if (in != inputs.front()) {
      throw InputError("cannot sum " + inputs.front().to_string() + " and " + in.to_string());
    }
  }
  return inputs.front();
}

std::array<std::int64_t, 4> extents(const Shape& shape) {
  return {shape.n, shape.c, shape.h, shape.w};
}

Shape infer(const Concat& concat, std::span<const Shape> inputs) {
  if (inputs.empty()) throw InputError("concatenates nothing; give it an input");
  static constexpr std::array<const char*, 4> kNames = {"images", "channels", "height", "width"};
  const auto axis = static_cast<std::size_t>(concat.axis);
  std::array<std::int64_t, 4> out = extents(inputs.front());
  out[axis] = 0;
  for (const Shape& in : inputs) {
    const std::array<std::int64_t, 4> of = extents(in);
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (i == axis || of[i] == out[i]) continue;
      throw InputError("cannot concatenate " + inputs.front().to_string() + " and " +
                       in.to_string() + " on " + kNames[axis]);
    }
    out[axis] += of[axis];
  }
  return {out[0], out[1], out[2], out[3]};
}

/// Returns ONNX's broadcast of two shapes of equal rank.
Shape broadcast(const Shape& a, const Shape& b) {
  const auto one = [&](std::int64_t x, std::int64_t y) {
    if (x == y || y == 1) return x;
    if (x == 1) return y;
    throw InputError("cannot combine " + a.to_string() + " and " + b.to_string() +
                     ": extents must be equal or 1");
  };
  return {one(a.n, b.n), one(a.c, b.c), one(a.h, b.h), one(a.w, b.w)};
}

Shape infer(const Binary& binary, std::span<const Shape> inputs) {
  if (binary.constant) {
    check_shape(*binary.constant, "its constant");
    return broadcast(only(inputs), *binary.constant);
  }
  check_count(inputs, 2);
  return broadcast(inputs[0], inputs[1]);
}

Shape infer(const Softmax& softmax, std::span<const Shape> inputs) {
  if (softmax.axes == Axes{}) throw InputError("needs at least one axis");
  return only(inputs);
}

Shape infer(const Reduce& reduce, std::span<const Shape> inputs) {
  Shape out = only(inputs);
  if (reduce.axes.n) out.n = 1;
  if (reduce.axes.c) out.c = 1;
  if (reduce.axes.h) out.h = 1;
  if (reduce.axes.w) out.w = 1;
  return out;
}

Shape infer(const Normalization& layer, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  if (layer.groups < 0 || (layer.groups > 0 && in.c % layer.groups != 0)) {
    throw InputError("its " + std::to_string(layer.groups) + " groups must divide " +
                     std::to_string(in.c) + " channels");
  }
  if (layer.groups > 0 && layer.axes.c) {
    throw InputError("normalises channels as a whole or in groups, not both");
  }
  for (const std::optional<Shape>& parameter : {layer.scale, layer.bias}) {
    if (parameter && broadcast(in, *parameter) != in) {
      throw InputError("its scale or bias " + parameter->to_string() + " does not fit " +
                       in.to_string());
    }
  }
  return in;
}

Shape infer(const LocalResponseNormalization& layer, std::span<const Shape> inputs) {
  if (layer.size < 1 || layer.size > kMaxExtent) throw InputError("needs a size of at least 1");
  return only(inputs);
}

Shape infer(const Resize& resize, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  check_extent(resize.size, 1, "size");
  if (!(resize.scale_h > 0) || !(resize.scale_w > 0)) throw InputError("needs scales above 0");
  return {in.n, in.c, resize.size.h, resize.size.w};
}

Shape infer(const Pad& pad, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  const std::array<std::int64_t, 4> of = extents(in), begin = extents(pad.begin),
                                    end = extents(pad.end);
  std::array<std::int64_t, 4> out{};
  for (std::size_t i = 0; i < of.size(); ++i) {
    const std::int64_t most = std::max(begin[i], end[i]);
    if (std::min(begin[i], end[i]) < 0 || most > kMaxExtent) {
      throw InputError("padding is outside 0 … " + std::to_string(kMaxExtent));
    }
    if (pad.mode == Pad::Mode::kReflect && most >= of[i] && most > 0) {
      throw InputError("cannot reflect " + std::to_string(most) + " values of an extent of " +
                       std::to_string(of[i]));
    }
    out[i] = of[i] + begin[i] + end[i];
  }
  return {out[0], out[1], out[2], out[3]};
}

Shape infer(const Move& move, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  check_shape(move.output, "its output");
  if (move.dimensions.empty() || move.dimensions.size() > Move::kMaxDimensions) {
    throw InputError("moves along 1 … 6 dimensions, not " + std::to_string(move.dimensions.size()));
  }
  double count = 1, least = static_cast<double>(move.offset), most = least;
  for (const Move::Dimension& dimension : move.dimensions) {
    if (dimension.size < 1) throw InputError("moves along a dimension of less than one value");
    const double reach =
        static_cast<double>(dimension.size - 1) * static_cast<double>(dimension.stride);
    (reach < 0 ? least : most) += reach;
    count *= static_cast<double>(dimension.size);
  }
  if (count != static_cast<double>(move.output.elements())) {
    throw InputError("moves other than the " + std::to_string(move.output.elements()) +
                     " values of its output");
  }
  if (least < 0 || most >= static_cast<double>(in.elements())) {
    throw InputError("reads outside its input " + in.to_string());
  }
  return move.output;
}

Shape infer(const MatMul& matmul, std::span<const Shape> inputs) {
  check_count(inputs, 2);
  const Shape &a = inputs[0], &b = inputs[1];
  const std::int64_t inner = matmul.transpose_right ? b.c : b.w;
  const std::int64_t columns = matmul.transpose_right ? b.w : b.c;
  if (a.c != inner) {
    throw InputError("cannot multiply matrices of " + a.to_string() + " and " + b.to_string());
  }
  const Shape batch = broadcast({a.n, 1, a.h, 1}, {b.n, 1, b.h, 1});
  return {batch.n, columns, batch.h, a.w};
}

Shape infer(const Gather& gather, std::span<const Shape> inputs) {
  if (gather.table) check_shape(*gather.table, "its table");
  check_count(inputs, gather.table ? 1 : 2);
  const Shape& indices = inputs[0];
  const std::int64_t columns = (gather.table ? *gather.table : inputs[1]).c;
  return {indices.n, indices.c * columns, indices.h, indices.w};
}

Shape infer(const TopK& top, std::span<const Shape> inputs) {
  check_count(inputs, 1);
  Shape out = inputs[0];
  if (top.k < 1 || top.k > out.c) {
    throw InputError("finds " + std::to_string(top.k) + " of " + std::to_string(out.c) + " values");
  }
  if (top.positions && out.c > (std::int64_t{1} << 24)) {
    throw InputError("has positions beyond 2^24, which fp32 does not hold exactly");
  }
  out.c = top.k;
  return out;
}

}  // namespace

Shape infer_shape(const LayerKind& kind, std::span<const Shape> inputs) {
  for (const Shape& in : inputs) check_shape(in, "its input");
  const Shape out = std::visit([&](const auto& layer) { return infer(layer, inputs); }, kind);
  check_shape(out, "its output");
  return out;
}

}  // namespace hios
