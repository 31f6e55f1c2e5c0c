#include "hios/model/layer.h"

#include <charconv>
#include <type_traits>

#include "hios/model/layer_fields.h"

namespace hios {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>  // clang 14 cannot deduce it by itself
Overloaded(Visitors...)->Overloaded<Visitors...>;

// The texts of attributes in a signature.

std::string text(const Extent& extent) {
  return std::to_string(extent.h) + "x" + std::to_string(extent.w);
}
std::string text(const Padding& padding) {
  return padding.even() ? text(padding.begin) : text(padding.begin) + "+" + text(padding.end);
}
std::string text(bool value) { return value ? "1" : "0"; }
std::string text(std::int64_t value) { return std::to_string(value); }
/// Returns the shortest text that reads back as the same number.
template <class Number>
requires std::is_floating_point_v<Number> std::string text(Number value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}
std::string text(const Shape& shape) { return shape.to_string(); }
std::string text(const std::optional<Shape>& shape) { return shape ? text(*shape) : "-"; }
std::string text(const Axes& axes) {
  std::string result;
  if (axes.n) result += 'n';
  if (axes.c) result += 'c';
  if (axes.h) result += 'h';
  if (axes.w) result += 'w';
  return result.empty() ? "-" : result;
}
std::string text(const std::vector<Move::Dimension>& dimensions) {
  std::string result;
  for (const Move::Dimension& dimension : dimensions) {
    if (!result.empty()) result += ',';
    result += text(dimension.size) + '@' + text(dimension.stride);
  }
  return result;
}
template <class Enum>
requires std::is_enum_v<Enum> std::string text(Enum value) { return std::string(name_of(value)); }

template <class Windowed>
std::string window_text(const Windowed& layer) {
  std::string result =
      " k" + text(layer.kernel) + " s" + text(layer.stride) + " p" + text(layer.padding);
  if (layer.dilation != Extent{}) result += " d" + text(layer.dilation);
  return result;
}

std::string attributes(const Conv& conv) {
  return ' ' + text(conv.out_channels) + window_text(conv) + " g" + text(conv.groups) +
         (conv.bias ? " b" : "");
}
std::string attributes(const Pool& pool) {
  return window_text(pool) + (pool.ceil ? " ceil" : "") +
         (pool.count_padding ? " count-padding" : "");
}
std::string attributes(const Concat& concat) {
  return concat.axis == Axis::kC ? "" : ' ' + text(concat.axis);
}
std::string attributes(const auto& layer) {
  std::string result;
  fields(layer, [&](std::string_view, const auto& value) { result += ' ' + text(value); });
  return result;
}

}  // namespace

std::string_view onnx_type(const LayerKind& kind) {
  using Text = std::string_view;
  return std::visit(
      Overloaded{
          [](const Conv&) { return Text("Conv"); },
          [](const Pool& pool) {
            return Text(pool.kind == Pool::Kind::kMax ? "MaxPool" : "AveragePool");
          },
          [](const GlobalAveragePool&) { return Text("GlobalAveragePool"); },
          [](const Relu&) { return Text("Relu"); }, [](const Sum&) { return Text("Sum"); },
          [](const Concat&) { return Text("Concat"); },
          [](const ConvTranspose&) { return Text("ConvTranspose"); },
          [](const Unary& unary) { return name_of(unary.function); },
          [](const Binary& binary) { return name_of(binary.function); },
          [](const Softmax&) { return Text("Softmax"); },
          [](const Reduce& reduce) { return name_of(reduce.function); },
          [](const Normalization&) { return Text("Normalization"); },
          [](const LocalResponseNormalization&) { return Text("LRN"); },
          [](const Resize&) { return Text("Resize"); }, [](const Pad&) { return Text("Pad"); },
          [](const Move&) { return Text("Move"); }, [](const MatMul&) { return Text("MatMul"); },
          [](const Gather&) { return Text("Gather"); }, [](const TopK&) { return Text("TopK"); }},
      kind);
}

double flop(const LayerKind& kind, std::span<const Shape> inputs, const Shape& output) {
  const auto products = [&](double each, std::int64_t values) {
    return 2.0 * each * static_cast<double>(values);
  };
  return std::visit(
      Overloaded{[&](const Conv& conv) {
                   return products(static_cast<double>(inputs.front().c / conv.groups *
                                                       conv.kernel.h * conv.kernel.w),
                                   output.elements());
                 },
                 [&](const ConvTranspose& conv) {
                   return products(static_cast<double>(conv.out_channels / conv.groups *
                                                       conv.kernel.h * conv.kernel.w),
                                   inputs.front().elements());
                 },
                 [&](const MatMul&) {
                   return products(static_cast<double>(inputs.front().c), output.elements());
                 },
                 [](const auto&) { return 0.0; }},
      kind);
}

ParameterCounts parameter_counts(const LayerKind& kind, std::span<const Shape> inputs) {
  const auto elements = [](const std::optional<Shape>& shape) {
    return shape ? shape->elements() : 0;
  };
  return std::visit(Overloaded{[&](const Conv& conv) -> ParameterCounts {
                                 return {conv.out_channels * (inputs.front().c / conv.groups) *
                                             conv.kernel.h * conv.kernel.w,
                                         conv.bias ? conv.out_channels : 0};
                               },
                               [&](const ConvTranspose& conv) -> ParameterCounts {
                                 return {inputs.front().c * (conv.out_channels / conv.groups) *
                                             conv.kernel.h * conv.kernel.w,
                                         conv.bias ? conv.out_channels : 0};
                               },
                               [&](const Binary& binary) -> ParameterCounts {
                                 return {elements(binary.constant), 0};
                               },
                               [&](const Normalization& layer) -> ParameterCounts {
                                 return {elements(layer.scale), elements(layer.bias)};
                               },
                               [&](const Gather& gather) -> ParameterCounts {
                                 return {elements(gather.table), 0};
                               },
                               [](const auto&) -> ParameterCounts { return {}; }},
                    kind);
}

std::string attributes_text(const LayerKind& kind) {
  return std::string(onnx_type(kind)) +
         std::visit([](const auto& layer) { return attributes(layer); }, kind);
}

}  // namespace hios
