#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hios/model/tensor.h"

/// The closed set of layer kinds, with the names and semantics of ONNX operators, and the work and
/// parameters of each. infer_shape.h has their output shapes.
namespace hios {

/// A height and a width.
struct Extent {
  std::int64_t h = 1;
  std::int64_t w = 1;
  bool operator==(const Extent&) const = default;
};

/// Rows (h) and columns (w) that are added around an image.
struct Padding {
  Extent begin{0, 0};  ///< above and on the left
  Extent end{0, 0};    ///< below and on the right

  constexpr Padding() = default;
  /// Adds as much before as after.
  constexpr Padding(std::int64_t h, std::int64_t w) : begin{h, w}, end{h, w} {}
  constexpr Padding(const Extent& both) : begin(both), end(both) {}  // converts
  constexpr Padding(const Extent& before, const Extent& after) : begin(before), end(after) {}
  bool even() const { return begin == end; }
  bool operator==(const Padding&) const = default;
};

/// ONNX Conv. Weight (out_channels, in_channels / groups, kernel.h, kernel.w), optional bias.
struct Conv {
  std::int64_t out_channels = 0;
  Extent kernel;
  Extent stride;
  Padding padding;
  std::int64_t groups = 1;
  bool bias = true;
  Extent dilation = {};  ///< 1, 1: the taps are neighbours
  bool operator==(const Conv&) const = default;
};

/// ONNX ConvTranspose. Weight (in_channels, out_channels / groups, kernel.h, kernel.w), optional
/// bias. Padding is removed from the output, `output_padding` is added to its end.
struct ConvTranspose {
  std::int64_t out_channels = 0;
  Extent kernel;
  Extent stride;
  Padding padding;
  Extent output_padding{0, 0};
  std::int64_t groups = 1;
  bool bias = true;
  Extent dilation = {};
  bool operator==(const ConvTranspose&) const = default;
};

/// ONNX MaxPool and AveragePool. With `ceil`, the last window may reach beyond the padded image,
/// but must begin before the padding at the end. An average divides by the taps inside the image;
/// with `count_padding`, by those inside the padded image.
struct Pool {
  enum class Kind { kMax, kAverage };
  Kind kind = Kind::kMax;
  Extent kernel;
  Extent stride;
  Padding padding;
  Extent dilation = {};
  bool ceil = false;
  bool count_padding = false;  ///< averages only
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
/// ONNX Concat. The inputs' other extents are equal.
struct Concat {
  Axis axis = Axis::kC;
  bool operator==(const Concat&) const = default;
};

/// An elementwise function of one operand. The names are ONNX's where it has the operator; Silu is
/// x·sigmoid(x), GeluTanh the approximation of Gelu by tanh. `alpha` and `beta` are ONNX's
/// attributes of these names; for Clip, the minimum and the maximum; for Selu, beta is gamma.
struct Unary {
  enum class Function {
    kAbs,
    kAcos,
    kAcosh,
    kAsin,
    kAsinh,
    kAtan,
    kAtanh,
    kCeil,
    kCelu,
    kClip,
    kCos,
    kCosh,
    kElu,
    kErf,
    kExp,
    kFloor,
    kGelu,
    kGeluTanh,
    kHardSigmoid,
    kHardSwish,
    kLeakyRelu,
    kLog,
    kMish,
    kNeg,
    kReciprocal,
    kRound,  ///< ties to even
    kSelu,
    kSigmoid,
    kSign,
    kSilu,
    kSin,
    kSinh,
    kSoftplus,
    kSoftsign,
    kSqrt,
    kTan,
    kTanh,
    kThresholdedRelu,
  };
  Function function = Function::kSigmoid;
  float alpha = 0;
  float beta = 0;
  bool operator==(const Unary&) const = default;
};

/// An elementwise function of two operands, with ONNX's broadcast: an extent of 1 is repeated.
/// PRelu is a < 0 ? a·b : a, KeepIf a ≠ 0 ? b : 0. Comparisons give 1 for true and 0 for false.
struct Binary {
  enum class Function {
    kAdd,
    kSub,
    kMul,
    kDiv,
    kMin,
    kMax,
    kPow,
    kPRelu,
    kEqual,
    kLess,
    kLessOrEqual,
    kKeepIf,
  };
  Function function = Function::kAdd;
  /// The shape of a constant operand: it is the layer's weight, in NHWC order, and the layer has
  /// one input. Empty: both operands are inputs.
  std::optional<Shape> constant;
  bool constant_first = false;  ///< the constant is the left operand
  bool operator==(const Binary&) const = default;
};

/// ONNX Softmax (LogSoftmax, with `log`) over all of these axes together.
struct Softmax {
  Axes axes;
  bool log = false;
  bool operator==(const Softmax&) const = default;
};

/// ONNX's reductions; the reduced axes keep extent 1.
struct Reduce {
  enum class Function { kL1, kL2, kLogSum, kLogSumExp, kMax, kMean, kMin, kProd, kSum, kSumSquare };
  Function function = Function::kMean;
  Axes axes;
  bool operator==(const Reduce&) const = default;
};

/// (x − mean) / sqrt(variance + epsilon) · scale + bias. Mean and variance are over `axes` and,
/// where `groups` is not 0, over the channels of each of that many groups of neighbours. It is
/// ONNX's InstanceNormalization (axes h, w), LayerNormalization and GroupNormalization (axes h, w;
/// groups).
struct Normalization {
  Axes axes;
  std::int64_t groups = 0;
  float epsilon = 1e-5f;
  std::optional<Shape> scale;  ///< the layer's weight, broadcast over the input
  std::optional<Shape> bias;   ///< the layer's bias, broadcast over the input
  bool operator==(const Normalization&) const = default;
};

/// ONNX LRN over a window of `size` channels, centred on the value's own.
struct LocalResponseNormalization {
  std::int64_t size = 1;
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1;
  bool operator==(const LocalResponseNormalization&) const = default;
};

/// ONNX Resize of height and width (Upsample, with kAsymmetric and kFloor).
struct Resize {
  enum class Mode { kNearest, kLinear, kCubic };
  enum class Coordinates {
    kHalfPixel,
    kPytorchHalfPixel,
    kAlignCorners,
    kAsymmetric,
    kTfHalfPixel,  ///< tf_half_pixel_for_nn, of opset 10 and 11
    kHalfPixelSymmetric
  };
  enum class Nearest { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
  Mode mode = Mode::kNearest;
  Coordinates coordinates = Coordinates::kHalfPixel;
  Nearest nearest = Nearest::kRoundPreferFloor;
  Extent size;         ///< size of the output
  double scale_h = 1;  ///< the file's factor, or size / input where it gives sizes
  double scale_w = 1;
  float cubic_a = -0.75f;
  bool exclude_outside = false;
  bool operator==(const Resize&) const = default;
};

/// ONNX Pad: `begin` and `end` count the elements added before and after, by axis (at least 0; a
/// negative pad is a Move).
struct Pad {
  enum class Mode { kConstant, kReflect, kEdge, kWrap };
  Mode mode = Mode::kConstant;
  Shape begin, end;
  float value = 0;
  bool operator==(const Pad&) const = default;
};

/// A layer that moves values and computes nothing: Transpose, Reshape, Slice, Split, DepthToSpace,
/// Expand, and sequences of them. Output value number ((i0·size1 + i1)·size2 + i2)… in memory order
/// is input value number offset + i0·stride0 + i1·stride1 + … in memory order.
struct Move {
  struct Dimension {
    std::int64_t size = 1;
    std::int64_t stride = 0;  ///< in values of the input; 0 repeats, negative goes backwards
    bool operator==(const Dimension&) const = default;
  };
  static constexpr std::size_t kMaxDimensions = 6;
  Shape output;
  std::vector<Dimension> dimensions;  ///< outermost first; as many values as the output
  std::int64_t offset = 0;
  bool operator==(const Move&) const = default;
};

/// ONNX MatMul of two tensors, each n·h matrices of w rows and c columns; n and h broadcast. With
/// `transpose_right`, the right operand's matrices are transposed.
struct MatMul {
  bool transpose_right = false;
  bool operator==(const MatMul&) const = default;
};

/// ONNX Gather of rows: each value of the first input, an index, becomes the c values of that row
/// of a table. A table of (n, c, h, w) has n·h·w rows. Negative indices count from the end; a value
/// that names no row gives zeros.
struct Gather {
  /// The shape of a constant table: it is the layer's weight, in NHWC order, and the layer has one
  /// input. Empty: the table is the second input.
  std::optional<Shape> table;
  bool operator==(const Gather&) const = default;
};

/// ONNX TopK along the channels: the k largest values of each pixel, or the smallest, the first of
/// them first. Of equal values the one of the lower channel is first; a NaN is larger than all
/// numbers.
struct TopK {
  std::int64_t k = 1;
  bool largest = true;
  bool positions = false;  ///< their channels, in place of the values
  bool operator==(const TopK&) const = default;
};

using LayerKind = std::variant<Conv, Pool, GlobalAveragePool, Relu, Sum, Concat, ConvTranspose,
                               Unary, Binary, Softmax, Reduce, Normalization,
                               LocalResponseNormalization, Resize, Pad, Move, MatMul, Gather, TopK>;

/// Returns the ONNX operator type: "Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "Relu",
/// "Sum", "Concat", "Sigmoid", "Mul", "ReduceMean", …; "Move" for layers that only move values.
std::string_view onnx_type(const LayerKind& kind);

/// Returns a layer's operations. A multiply-add counts as two, as in published tables.
double flop(const LayerKind& kind, std::span<const Shape> inputs, const Shape& output);

/// Weights and biases of a layer, in elements; 0 where it has none.
struct ParameterCounts {
  std::int64_t weights = 0;
  std::int64_t bias = 0;
  std::int64_t total() const { return weights + bias; }
};
ParameterCounts parameter_counts(const LayerKind& kind, std::span<const Shape> inputs);
inline std::int64_t parameters(const LayerKind& kind, std::span<const Shape> inputs) {
  return parameter_counts(kind, inputs).total();
}

/// Returns one layer's part of an operator's signature: "Conv 64 k3x3 s1x1 p1x1 g1 b", "Relu".
/// Equal strings (with equal input shapes) mean equal work.
std::string attributes_text(const LayerKind& kind);

}  // namespace hios
