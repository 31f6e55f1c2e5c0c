#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

/// What is added around an image, in rows (h) and columns (w).
struct Padding {
  Extent begin{0, 0};  ///< above and on the left
  Extent end{0, 0};    ///< below and on the right

  constexpr Padding() = default;
  /// The same before and after.
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
/// bias. Padding is taken off the output, `output_padding` is added to its end.
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

/// ONNX MaxPool and AveragePool. Where `ceil` is set, a last window may begin inside the image and
/// its padding before and end beyond them; one that would begin in the padding behind is left out.
/// An average divides by the taps inside the image; with `count_padding`, by those inside the
/// padded image.
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
/// ONNX Concat. Inputs agree in the other axes.
struct Concat {
  Axis axis = Axis::kC;
  bool operator==(const Concat&) const = default;
};

/// A function of one value, applied to each. The names are those of ONNX where it has the operator;
/// Silu is x·sigmoid(x), GeluTanh the approximation of Gelu by tanh. `alpha` and `beta` are ONNX's
/// attributes of these names; of Clip, the least and the greatest value; of Selu, beta is gamma.
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
    kRound,  ///< halves to even
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

/// A function of two values, with ONNX's broadcast: where one operand's extent is 1, its one value
/// serves all. PRelu is a < 0 ? a·b : a.
struct Binary {
  enum class Function { kAdd, kSub, kMul, kDiv, kMin, kMax, kPow, kPRelu };
  Function function = Function::kAdd;
  /// Where one operand is a constant, its shape: it is the layer's weight, in NHWC order, and the
  /// layer has one input.
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

/// ONNX's reductions; the axes stay, with extent 1.
struct Reduce {
  enum class Function { kL1, kL2, kLogSum, kLogSumExp, kMax, kMean, kMin, kProd, kSum, kSumSquare };
  Function function = Function::kMean;
  Axes axes;
  bool operator==(const Reduce&) const = default;
};

/// (x − mean) / sqrt(variance + epsilon), mean and variance over `axes` and, where `groups` is not
/// 0, over the channels of each of so many groups of neighbours; then times a scale, plus a bias.
/// ONNX InstanceNormalization (axes h, w), LayerNormalization, GroupNormalization (axes h, w and
/// groups).
struct Normalization {
  Axes axes;
  std::int64_t groups = 0;
  float epsilon = 1e-5f;
  std::optional<Shape> scale;  ///< the layer's weight, broadcast over the input
  std::optional<Shape> bias;   ///< the layer's bias, broadcast over the input
  bool operator==(const Normalization&) const = default;
};

/// ONNX LRN, across channels: `size` of them, the value's own in the middle.
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
  Extent size;         ///< of the output
  double scale_h = 1;  ///< as the file says, or size / input where it gives sizes
  double scale_w = 1;
  float cubic_a = -0.75f;
  bool exclude_outside = false;
  bool operator==(const Resize&) const = default;
};

/// ONNX Pad: `begin` and `end` count what is added before and after, an axis each (extents of at
/// least 0; what is cut off is a Move).
struct Pad {
  enum class Mode { kConstant, kReflect, kEdge, kWrap };
  Mode mode = Mode::kConstant;
  Shape begin, end;
  float value = 0;
  bool operator==(const Pad&) const = default;
};

/// Moves values and computes nothing: Transpose, Reshape, Slice, Split, DepthToSpace, Expand and
/// whatever follows them. Output value number ((i0·size1 + i1)·size2 + i2)… in memory order is
/// input value number offset + i0·stride0 + i1·stride1 + … in memory order.
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

/// ONNX MatMul of two tensors: (h, w, c) are so many matrices of w rows and c columns, for each n.
/// n and h broadcast. What is stored as (c, w) of the right operand is read as its transpose where
/// `transpose_right` is set.
struct MatMul {
  bool transpose_right = false;
  bool operator==(const MatMul&) const = default;
};

using LayerKind = std::variant<Conv, Pool, GlobalAveragePool, Relu, Sum, Concat, ConvTranspose,
                               Unary, Binary, Softmax, Reduce, Normalization,
                               LocalResponseNormalization, Resize, Pad, Move, MatMul>;

/// The ONNX operator type: "Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "Relu", "Sum",
/// "Concat", "Sigmoid", "Mul", "ReduceMean", …; "Move" for what only moves values.
std::string_view onnx_type(const LayerKind& kind);

/// Throws InputError (without the layer's name; the Model adds it) where the inputs do not fit or
/// the output would be empty.
Shape infer_shape(const LayerKind& kind, std::span<const Shape> inputs);

/// Multiply-adds count as two operations, as in published tables.
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

/// One layer's part of an operator's signature: "Conv 64 k3x3 s1x1 p1x1 g1 b", "Relu". Equal
/// strings (with equal input shapes) mean equal work.
std::string attributes_text(const LayerKind& kind);

}  // namespace hios
