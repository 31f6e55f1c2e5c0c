#include "hios/model/layer.h"

#include <algorithm>
#include <limits>

#include "hios/base/error.h"

namespace hios {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>  // which clang 14 cannot deduce by itself
Overloaded(Visitors...) -> Overloaded<Visitors...>;

/// 2^40 values are 4 TiB: a size that was mistyped, not one that is meant.
constexpr double kMaxElements = 0x1.0p40;

std::string text(const Extent& extent) {
  return std::to_string(extent.h) + "x" + std::to_string(extent.w);
}

void check_extent(const Extent& extent, std::int64_t least, const char* what) {
  if (std::min(extent.h, extent.w) < least || std::max(extent.h, extent.w) > kMaxExtent) {
    throw InputError(std::string(what) + " " + text(extent) + " is outside " +
                     std::to_string(least) + " … " + std::to_string(kMaxExtent));
  }
}

const Shape& only(std::span<const Shape> inputs) {
  if (inputs.size() != 1) {
    throw InputError("takes one input, not " + std::to_string(inputs.size()));
  }
  return inputs.front();
}

/// How far a window slides: output height and width of a convolution or a pool.
Extent slide(const Shape& in, const Extent& kernel, const Extent& stride, const Extent& padding) {
  check_extent(kernel, 1, "kernel");
  check_extent(stride, 1, "stride");
  check_extent(padding, 0, "padding");
  const Extent padded{in.h + 2 * padding.h, in.w + 2 * padding.w};
  if (kernel.h > padded.h || kernel.w > padded.w) {
    throw InputError("its kernel " + text(kernel) + " does not fit into its padded input " +
                     text(padded) + "; give the network a larger input");
  }
  return {(padded.h - kernel.h) / stride.h + 1, (padded.w - kernel.w) / stride.w + 1};
}

Shape infer(const Conv& conv, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  if (conv.groups < 1 || conv.out_channels < 1 || conv.out_channels > kMaxExtent) {
    throw InputError("needs at least one group and 1 … " + std::to_string(kMaxExtent) +
                     " output channels");
  }
  if (in.c % conv.groups != 0 || conv.out_channels % conv.groups != 0) {
    throw InputError("its " + std::to_string(conv.groups) + " groups must divide " +
                     std::to_string(in.c) + " input and " + std::to_string(conv.out_channels) +
                     " output channels");
  }
  const Extent out = slide(in, conv.kernel, conv.stride, conv.padding);
  const double weights = static_cast<double>(conv.out_channels) *
                         static_cast<double>(in.c / conv.groups) *
                         static_cast<double>(conv.kernel.h) * static_cast<double>(conv.kernel.w);
  if (weights > kMaxElements) throw InputError("its weights would hold more than 2^40 values");
  return {in.n, conv.out_channels, out.h, out.w};
}

Shape infer(const Pool& pool, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  const Extent out = slide(in, pool.kernel, pool.stride, pool.padding);
  if (pool.padding.h >= pool.kernel.h || pool.padding.w >= pool.kernel.w) {
    throw InputError("a window of its kernel " + text(pool.kernel) +
                     " would lie wholly in the padding " + text(pool.padding));
  }
  return {in.n, in.c, out.h, out.w};
}

Shape infer(const GlobalAveragePool&, std::span<const Shape> inputs) {
  const Shape& in = only(inputs);
  return {in.n, in.c, 1, 1};
}

Shape infer(const Relu&, std::span<const Shape> inputs) { return only(inputs); }

Shape infer(const Sum&, std::span<const Shape> inputs) {
  if (inputs.empty()) throw InputError("sums nothing; give it an input");
  for (const Shape& in : inputs) {
    if (in != inputs.front()) {
      throw InputError("cannot sum " + inputs.front().to_string() + " and " + in.to_string());
    }
  }
  return inputs.front();
}

Shape infer(const Concat&, std::span<const Shape> inputs) {
  if (inputs.empty()) throw InputError("concatenates nothing; give it an input");
  Shape out = inputs.front();
  out.c = 0;
  for (const Shape& in : inputs) {
    if (in.n != out.n || in.h != out.h || in.w != out.w) {
      throw InputError("cannot concatenate " + inputs.front().to_string() + " and " +
                       in.to_string() + " on channels");
    }
    out.c += in.c;
  }
  return out;
}

void check_shape(const Shape& shape, const char* what) {
  const auto [least, most] = std::minmax({shape.n, shape.c, shape.h, shape.w});
  const double elements = static_cast<double>(shape.n) * static_cast<double>(shape.c) *
                          static_cast<double>(shape.h) * static_cast<double>(shape.w);
  if (least < 1) throw InputError(std::string(what) + " " + shape.to_string() + " is empty");
  if (most > kMaxExtent || elements > kMaxElements) {
    throw InputError(std::string(what) + " " + shape.to_string() +
                     " would hold more than 2^40 values");
  }
}

std::string window_text(const Extent& kernel, const Extent& stride, const Extent& padding) {
  std::string result = " k";
  result += text(kernel) + " s";
  result += text(stride) + " p";
  return result + text(padding);
}

}  // namespace

std::string_view onnx_type(const LayerKind& kind) {
  return std::visit(
      Overloaded{[](const Conv&) { return std::string_view("Conv"); },
                 [](const Pool& pool) {
                   return std::string_view(pool.kind == Pool::Kind::kMax ? "MaxPool"
                                                                         : "AveragePool");
                 },
                 [](const GlobalAveragePool&) { return std::string_view("GlobalAveragePool"); },
                 [](const Relu&) { return std::string_view("Relu"); },
                 [](const Sum&) { return std::string_view("Sum"); },
                 [](const Concat&) { return std::string_view("Concat"); }},
      kind);
}

Shape infer_shape(const LayerKind& kind, std::span<const Shape> inputs) {
  for (const Shape& in : inputs) check_shape(in, "its input");
  const Shape out = std::visit([&](const auto& layer) { return infer(layer, inputs); }, kind);
  check_shape(out, "its output");
  return out;
}

double flop(const LayerKind& kind, std::span<const Shape> inputs, const Shape& output) {
  const auto* conv = std::get_if<Conv>(&kind);
  if (conv == nullptr) return 0;
  const std::int64_t multiply_adds_a_value =
      inputs.front().c / conv->groups * conv->kernel.h * conv->kernel.w;
  return 2.0 * static_cast<double>(output.elements()) * static_cast<double>(multiply_adds_a_value);
}

std::int64_t parameters(const LayerKind& kind, std::span<const Shape> inputs) {
  const auto* conv = std::get_if<Conv>(&kind);
  if (conv == nullptr) return 0;
  const std::int64_t weights =
      conv->out_channels * (inputs.front().c / conv->groups) * conv->kernel.h * conv->kernel.w;
  return weights + (conv->bias ? conv->out_channels : 0);
}

std::string attributes_text(const LayerKind& kind) {
  std::string result(onnx_type(kind));
  if (const auto* conv = std::get_if<Conv>(&kind)) {
    result += ' ';
    result += std::to_string(conv->out_channels);
    result += window_text(conv->kernel, conv->stride, conv->padding);
    result += " g";
    result += std::to_string(conv->groups);
    if (conv->bias) result += " b";
  } else if (const auto* pool = std::get_if<Pool>(&kind)) {
    result += window_text(pool->kernel, pool->stride, pool->padding);
  }
  return result;
}

}  // namespace hios
