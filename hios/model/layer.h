#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "hios/model/tensor.h"

/// The closed set of layer kinds, in ONNX operator terms and semantics: each knows its output
/// shape, its work and its parameters.
namespace hios {

/// Height and width of anything two-dimensional.
struct Extent {
  std::int64_t h = 1;
  std::int64_t w = 1;
  bool operator==(const Extent&) const = default;
};

/// ONNX Conv. Weight (out_channels, in_channels / groups, kernel.h, kernel.w), optional bias.
struct Conv {
  std::int64_t out_channels = 0;
  Extent kernel;
  Extent stride;
  Extent padding{0, 0};  ///< the same before and after
  std::int64_t groups = 1;
  bool bias = true;
  bool operator==(const Conv&) const = default;
};

/// ONNX MaxPool and AveragePool (ceil_mode = 0; an average does not count the padding).
struct Pool {
  enum class Kind { kMax, kAverage };
  Kind kind = Kind::kMax;
  Extent kernel;
  Extent stride;
  Extent padding{0, 0};
  bool operator==(const Pool&) const = default;
};

struct GlobalAveragePool {
  bool operator==(const GlobalAveragePool&) const = default;
};
struct Relu {
  bool operator==(const Relu&) const = default;
};
/// ONNX Sum (Add, for two): equal shapes, one or more inputs.
struct Sum {
  bool operator==(const Sum&) const = default;
};
/// ONNX Concat with axis = 1 (channels).
struct Concat {
  bool operator==(const Concat&) const = default;
};

using LayerKind = std::variant<Conv, Pool, GlobalAveragePool, Relu, Sum, Concat>;

/// The ONNX operator type: "Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "Relu", "Sum",
/// "Concat".
std::string_view onnx_type(const LayerKind& kind);

/// Throws InputError (without the layer's name; the Model adds it) where the inputs do not fit or
/// the output would be empty.
Shape infer_shape(const LayerKind& kind, std::span<const Shape> inputs);

/// Multiply-adds count as two operations, as in published tables.
double flop(const LayerKind& kind, std::span<const Shape> inputs, const Shape& output);

/// Weights and biases, in elements.
std::int64_t parameters(const LayerKind& kind, std::span<const Shape> inputs);

/// One layer's part of an operator's signature: "Conv 64 k3x3 s1x1 p1x1 g1 b", "Relu". Equal
/// strings (with equal input shapes) mean equal work.
std::string attributes_text(const LayerKind& kind);

}  // namespace hios
