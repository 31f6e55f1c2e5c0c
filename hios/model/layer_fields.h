#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include "hios/model/layer.h"

/// The attributes of layer kinds, by name: one list a kind, from which JSON is written and read and
/// signatures are made. Conv and the pools have code of their own in layer_json.cpp and layer.cpp.
namespace hios {

/// The values of an enumeration and their names, in the order of the enumeration.
template <class Enum>
struct Names;

template <>
struct Names<Unary::Function> {
  static constexpr std::array<std::string_view, 38> kAll = {"Abs",         "Acos",
                                                            "Acosh",       "Asin",
                                                            "Asinh",       "Atan",
                                                            "Atanh",       "Ceil",
                                                            "Celu",        "Clip",
                                                            "Cos",         "Cosh",
                                                            "Elu",         "Erf",
                                                            "Exp",         "Floor",
                                                            "Gelu",        "GeluTanh",
                                                            "HardSigmoid", "HardSwish",
                                                            "LeakyRelu",   "Log",
                                                            "Mish",        "Neg",
                                                            "Reciprocal",  "Round",
                                                            "Selu",        "Sigmoid",
                                                            "Sign",        "Silu",
                                                            "Sin",         "Sinh",
                                                            "Softplus",    "Softsign",
                                                            "Sqrt",        "Tan",
                                                            "Tanh",        "ThresholdedRelu"};
};
template <>
struct Names<Binary::Function> {
  static constexpr std::array<std::string_view, 12> kAll = {
      "Add", "Sub",   "Mul",   "Div",  "Min",         "Max",
      "Pow", "PRelu", "Equal", "Less", "LessOrEqual", "KeepIf"};
};
template <>
struct Names<Reduce::Function> {
  static constexpr std::array<std::string_view, 10> kAll = {
      "ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
      "ReduceMean", "ReduceMin", "ReduceProd",   "ReduceSum",       "ReduceSumSquare"};
};
template <>
struct Names<Resize::Mode> {
  static constexpr std::array<std::string_view, 3> kAll = {"nearest", "linear", "cubic"};
};
template <>
struct Names<Resize::Coordinates> {
  static constexpr std::array<std::string_view, 6> kAll = {
      "half_pixel", "pytorch_half_pixel",   "align_corners",
      "asymmetric", "tf_half_pixel_for_nn", "half_pixel_symmetric"};
};
template <>
struct Names<Resize::Nearest> {
  static constexpr std::array<std::string_view, 4> kAll = {"round_prefer_floor",
                                                           "round_prefer_ceil", "floor", "ceil"};
};
template <>
struct Names<Pad::Mode> {
  static constexpr std::array<std::string_view, 4> kAll = {"constant", "reflect", "edge", "wrap"};
};
template <>
struct Names<Axis> {
  static constexpr std::array<std::string_view, 4> kAll = {"n", "c", "h", "w"};
};

template <class Enum>
constexpr std::string_view name_of(Enum value) {
  return Names<Enum>::kAll[static_cast<std::size_t>(value)];
}

/// Calls field(name, member) for each attribute of a layer, which may be const. Attributes that
/// decide the ONNX type (Unary's function) are not among them.
template <class Field>
void fields(auto& layer, Field&& field) {
  using Kind = std::remove_cvref_t<decltype(layer)>;
  if constexpr (std::is_same_v<Kind, Concat>) {
    field("axis", layer.axis);
  } else if constexpr (std::is_same_v<Kind, ConvTranspose>) {
    field("out_channels", layer.out_channels);
    field("kernel_shape", layer.kernel);
    field("strides", layer.stride);
    field("pads", layer.padding);
    field("output_padding", layer.output_padding);
    field("dilations", layer.dilation);
    field("group", layer.groups);
    field("bias", layer.bias);
  } else if constexpr (std::is_same_v<Kind, Unary>) {
    field("alpha", layer.alpha);
    field("beta", layer.beta);
  } else if constexpr (std::is_same_v<Kind, Binary>) {
    field("constant", layer.constant);
    field("constant_first", layer.constant_first);
  } else if constexpr (std::is_same_v<Kind, Softmax>) {
    field("axes", layer.axes);
    field("log", layer.log);
  } else if constexpr (std::is_same_v<Kind, Reduce>) {
    field("axes", layer.axes);
  } else if constexpr (std::is_same_v<Kind, Normalization>) {
    field("axes", layer.axes);
    field("groups", layer.groups);
    field("epsilon", layer.epsilon);
    field("scale", layer.scale);
    field("bias", layer.bias);
  } else if constexpr (std::is_same_v<Kind, LocalResponseNormalization>) {
    field("size", layer.size);
    field("alpha", layer.alpha);
    field("beta", layer.beta);
    field("bias", layer.bias);
  } else if constexpr (std::is_same_v<Kind, Resize>) {
    field("mode", layer.mode);
    field("coordinate_transformation_mode", layer.coordinates);
    field("nearest_mode", layer.nearest);
    field("size", layer.size);
    field("scale_h", layer.scale_h);
    field("scale_w", layer.scale_w);
    field("cubic_coeff_a", layer.cubic_a);
    field("exclude_outside", layer.exclude_outside);
  } else if constexpr (std::is_same_v<Kind, Pad>) {
    field("mode", layer.mode);
    field("begin", layer.begin);
    field("end", layer.end);
    field("value", layer.value);
  } else if constexpr (std::is_same_v<Kind, Move>) {
    field("output", layer.output);
    field("dimensions", layer.dimensions);
    field("offset", layer.offset);
  } else if constexpr (std::is_same_v<Kind, MatMul>) {
    field("transpose_right", layer.transpose_right);
  } else if constexpr (std::is_same_v<Kind, Gather>) {
    field("table", layer.table);
  } else if constexpr (std::is_same_v<Kind, TopK>) {
    field("k", layer.k);
    field("largest", layer.largest);
    field("positions", layer.positions);
  }
}

}  // namespace hios
