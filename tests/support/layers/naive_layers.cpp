// The formulas of the ONNX operator documentation, literally and in double precision, with sums
// scattered from inputs to outputs: computed differently from the reference backend.
#include "support/layers/naive_layers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

namespace hios::test {
namespace {

double half_to_even(double x) {
  const double below = std::floor(x), rest = x - below;
  if (rest != 0.5) return rest < 0.5 ? below : below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

double value_of(const Unary& unary, double x) {
  using Function = Unary::Function;
  const double alpha = unary.alpha, beta = unary.beta, e = std::exp(x);
  const double negative = std::min(x, 0.0), positive = std::max(x, 0.0);
  switch (unary.function) {
    case Function::kAbs:
      return positive - negative;
    case Function::kAcos:
      return std::numbers::pi / 2 - std::asin(x);
    case Function::kAcosh:
      return std::log(x + std::sqrt(x * x - 1));
    case Function::kAsin:
      return std::atan2(x, std::sqrt(1 - x * x));
    case Function::kAsinh:
      return std::log(x + std::sqrt(x * x + 1));
    case Function::kAtan:
      return std::asin(x / std::sqrt(1 + x * x));
    case Function::kAtanh:
      return 0.5 * std::log((1 + x) / (1 - x));
    case Function::kCeil:
      return -std::floor(-x);
    case Function::kCelu:
      return positive + std::min(0.0, alpha * (std::exp(x / alpha) - 1));
    case Function::kClip:
      return x < alpha ? alpha : x > beta ? beta : x;
    case Function::kCos:
      return std::sin(x + std::numbers::pi / 2);
    case Function::kCosh:
      return (e + 1 / e) / 2;
    case Function::kElu:
      return positive + alpha * (std::exp(negative) - 1);
    case Function::kErf:
      return 1 - std::erfc(x);
    case Function::kExp:
      return std::exp2(x * std::numbers::log2e);
    case Function::kFloor:
      return -std::ceil(-x);
    case Function::kGelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Function::kGeluTanh:
      return x /
             (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * std::pow(x, 3))));
    case Function::kHardSigmoid:
      return std::clamp(alpha * x + beta, 0.0, 1.0);
    case Function::kHardSwish:
      return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6;
    case Function::kLeakyRelu:
      return positive + alpha * negative;
    case Function::kLog:
      return std::log2(x) * std::numbers::ln2;
    case Function::kMish:
      return x * std::tanh(std::log(1 + e));
    case Function::kNeg:
      return 0 - x;
    case Function::kReciprocal:
      return std::pow(x, -1);
    case Function::kRound:
      return half_to_even(x);
    case Function::kSelu:
      return x <= 0 ? beta * (alpha * e - alpha) : beta * x;
    case Function::kSigmoid:
      return (1 + std::tanh(x / 2)) / 2;
    case Function::kSign:
      return static_cast<double>(x > 0) - static_cast<double>(x < 0);
    case Function::kSilu:
      return x * (1 + std::tanh(x / 2)) / 2;
    case Function::kSin:
      return std::cos(x - std::numbers::pi / 2);
    case Function::kSinh:
      return (e - 1 / e) / 2;
    case Function::kSoftplus:
      return std::log(1 + e);
    case Function::kSoftsign:
      return x < 0 ? x / (1 - x) : x / (1 + x);
    case Function::kSqrt:
      return std::pow(x, 0.5);
    case Function::kTan:
      return std::sin(x) / std::cos(x);
    case Function::kTanh:
      return 1 - 2 / (e * e + 1);
    case Function::kThresholdedRelu:
      return x <= alpha ? 0 : x;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double value_of(Binary::Function function, double a, double b) {
  switch (function) {
    case Binary::Function::kAdd:
      return b + a;
    case Binary::Function::kSub:
      return -(b - a);
    case Binary::Function::kMul:
      return b * a;
    case Binary::Function::kDiv:
      return a * (1 / b);
    case Binary::Function::kMin:
      return (a + b - std::abs(a - b)) / 2;
    case Binary::Function::kMax:
      return (a + b + std::abs(a - b)) / 2;
    case Binary::Function::kPow:
      return std::exp(b * std::log(a));
    case Binary::Function::kPRelu:
      return std::max(0.0, a) + b * std::min(0.0, a);
    case Binary::Function::kEqual:
      return !(a < b || a > b);
    case Binary::Function::kLess:
      return b > a;
    case Binary::Function::kLessOrEqual:
      return !(a > b);
    case Binary::Function::kKeepIf:
      return b * static_cast<double>(a != 0);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// The shape of sums over some axes, and the mapping of indices to it.
struct Summed {
  Summed(const Shape& of, const Axes& axes, std::int64_t groups = 0)
      : shape{axes.n ? 1 : of.n,
              axes.c       ? 1
              : groups > 0 ? groups
                           : of.c,
              axes.h ? 1 : of.h, axes.w ? 1 : of.w},
        channels(of.c / shape.c) {}
  double& operator()(Values& sums, std::int64_t n, std::int64_t c, std::int64_t h,
                     std::int64_t w) const {
    return sums.at(shape.n == 1 ? 0 : n, c / channels, shape.h == 1 ? 0 : h, shape.w == 1 ? 0 : w);
  }
  Shape shape;
  std::int64_t channels;  ///< channels of one sum
};

/// Returns the term that one value adds to a reduction whose sum so far is `sum`.
double added(Reduce::Function function, double sum, double x) {
  switch (function) {
    case Reduce::Function::kL1:
      return sum + std::abs(x);
    case Reduce::Function::kL2:
    case Reduce::Function::kSumSquare:
      return sum + x * x;
    case Reduce::Function::kLogSumExp:
      return sum + std::exp(x);
    case Reduce::Function::kMax:
      return std::max(sum, x);
    case Reduce::Function::kMin:
      return std::min(sum, x);
    case Reduce::Function::kProd:
      return sum * x;
    default:
      return sum + x;
  }
}

double initial_value(Reduce::Function function) {
  if (function == Reduce::Function::kMax) return -std::numeric_limits<double>::infinity();
  if (function == Reduce::Function::kMin) return std::numeric_limits<double>::infinity();
  return function == Reduce::Function::kProd ? 1 : 0;
}

double ended(Reduce::Function function, double sum, double count) {
  switch (function) {
    case Reduce::Function::kL2:
      return std::sqrt(sum);
    case Reduce::Function::kLogSum:
    case Reduce::Function::kLogSumExp:
      return std::log(sum);
    case Reduce::Function::kMean:
      return sum / count;
    default:
      return sum;
  }
}

}  // namespace

Values naive_unary(const Unary& unary, const Values& in) {
  Values out(in.shape);
  std::ranges::transform(in.data, out.data.begin(), [&](double x) { return value_of(unary, x); });
  return out;
}

Values naive_binary(Binary::Function function, const Values& a, const Values& b,
                    const Shape& out_shape) {
  const auto read = [](const Values& in, auto n, auto c, auto h, auto w) {
    return in.at(n % in.shape.n, c % in.shape.c, h % in.shape.h, w % in.shape.w);
  };
  Values out(out_shape);
  out.each([&](auto... i) { out.at(i...) = value_of(function, read(a, i...), read(b, i...)); });
  return out;
}

Values naive_softmax(const Softmax& softmax, const Values& in) {
  const Summed summed(in.shape, softmax.axes);
  Values sums(summed.shape), out(in.shape);
  in.each([&](auto... i) { summed(sums, i...) += std::exp(in.at(i...)); });
  out.each([&](auto... i) {
    const double value = std::exp(in.at(i...)) / summed(sums, i...);
    out.at(i...) = softmax.log ? std::log(value) : value;
  });
  return out;
}

Values naive_reduce(const Reduce& reduce, const Values& in, const Shape& out_shape) {
  const Summed summed(in.shape, reduce.axes);
  Values out(out_shape);
  std::ranges::fill(out.data, initial_value(reduce.function));
  in.each([&](auto... i) {
    double& sum = summed(out, i...);
    sum = added(reduce.function, sum, in.at(i...));
  });
  const double count = static_cast<double>(in.data.size()) / static_cast<double>(out.data.size());
  for (double& value : out.data) value = ended(reduce.function, value, count);
  return out;
}

Values naive_normalization(const Normalization& layer, const Values& in, const Values* scale,
                           const Values* bias) {
  const Summed summed(in.shape, layer.axes, layer.groups);
  Values means(summed.shape), squares(summed.shape), out(in.shape);
  const double count = static_cast<double>(in.data.size()) / static_cast<double>(means.data.size());
  in.each([&](auto... i) {
    summed(means, i...) += in.at(i...) / count;
    summed(squares, i...) += in.at(i...) * in.at(i...) / count;
  });
  out.each([&](auto... i) {
    const double mean = summed(means, i...), variance = summed(squares, i...) - mean * mean;
    out.at(i...) = (in.at(i...) - mean) / std::sqrt(variance + static_cast<double>(layer.epsilon));
  });
  if (scale) out = naive_binary(Binary::Function::kMul, out, *scale, in.shape);
  if (bias) out = naive_binary(Binary::Function::kAdd, out, *bias, in.shape);
  return out;
}

Values naive_response_normalization(const LocalResponseNormalization& layer, const Values& in) {
  const double reach = static_cast<double>(layer.size - 1) / 2;
  const auto before = static_cast<std::int64_t>(std::floor(reach)),
             after = static_cast<std::int64_t>(std::ceil(reach));
  Values sums(in.shape), out(in.shape);
  in.each([&](auto n, auto i, auto h, auto w) {
    for (std::int64_t c = 0; c < in.shape.c; ++c) {
      if (c - before <= i && i <= c + after) {
        sums.at(n, c, h, w) += in.at(n, i, h, w) * in.at(n, i, h, w);
      }
    }
  });
  const double alpha = layer.alpha, beta = layer.beta, bias = layer.bias;
  out.each([&](auto... i) {
    const double base = bias + alpha / static_cast<double>(layer.size) * sums.at(i...);
    out.at(i...) = in.at(i...) * std::exp(-beta * std::log(base));
  });
  return out;
}

Values naive_pad(const Pad& pad, const Values& in, const Shape& out_shape) {
  bool outside = false;
  // Steps back into the image one pixel at a time.
  const auto walk = [&](std::int64_t i, std::int64_t extent) {
    while (i < 0 || i >= extent) {
      const bool before = i < 0;
      if (pad.mode == Pad::Mode::kReflect) {
        i = before ? -i : 2 * (extent - 1) - i;
      } else if (pad.mode == Pad::Mode::kWrap) {
        i += before ? extent : -extent;
      } else {
        outside = true;
        i += before ? 1 : -1;
      }
    }
    return i;
  };
  Values out(out_shape);
  out.each([&](auto n, auto c, auto h, auto w) {
    outside = false;
    const Shape& s = in.shape;
    const auto in_n = walk(n - pad.begin.n, s.n), in_c = walk(c - pad.begin.c, s.c),
               in_h = walk(h - pad.begin.h, s.h), in_w = walk(w - pad.begin.w, s.w);
    const bool constant = outside && pad.mode == Pad::Mode::kConstant;
    out.at(n, c, h, w) = constant ? static_cast<double>(pad.value) : in.at(in_n, in_c, in_h, in_w);
  });
  return out;
}

Values naive_move(const Move& move, const Values& in) {
  const std::vector<double> from = in.in_memory();
  std::vector<double> to(static_cast<std::size_t>(move.output.elements()));
  for (std::size_t number = 0; number < to.size(); ++number) {
    auto rest = static_cast<std::int64_t>(number);
    std::int64_t source = move.offset;
    for (auto dimension = move.dimensions.rbegin(); dimension != move.dimensions.rend();
         ++dimension) {
      source += rest % dimension->size * dimension->stride;
      rest /= dimension->size;
    }
    to[number] = from.at(static_cast<std::size_t>(source));
  }
  return Values::from_memory(move.output, to);
}

Values naive_top(const TopK& kind, const Values& in, const Shape& out_shape) {
  Values out(out_shape);
  std::vector<std::int64_t> order(static_cast<std::size_t>(in.shape.c));
  Shape pixels = out_shape;
  pixels.c = 1;
  Values(pixels).each([&](auto n, auto, auto h, auto w) {
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
      const double x = in.at(n, a, h, w), y = in.at(n, b, h, w);
      return kind.largest ? x > y : x < y;
    });
    for (std::int64_t c = 0; c < kind.k; ++c) {
      const std::int64_t from = order[static_cast<std::size_t>(c)];
      out.at(n, c, h, w) = kind.positions ? static_cast<double>(from) : in.at(n, from, h, w);
    }
  });
  return out;
}

Values naive_gather(const Values& indices, const Values& table, const Shape& out_shape) {
  const Shape& of = table.shape;
  const std::int64_t rows = of.n * of.h * of.w;
  Values out(out_shape);
  out.each([&](auto n, auto c, auto h, auto w) {
    double row = std::trunc(indices.at(n, c / of.c, h, w));
    if (row < 0) row += static_cast<double>(rows);
    if (row < 0 || row >= static_cast<double>(rows)) return;  // stays 0
    const auto pixel = static_cast<std::int64_t>(row);
    const std::int64_t image = pixel / (of.h * of.w), rest = pixel % (of.h * of.w);
    out.at(n, c, h, w) = table.at(image, c % of.c, rest / of.w, rest % of.w);
  });
  return out;
}

Values naive_matmul(const MatMul& matmul, const Values& a, const Values& b,
                    const Shape& out_shape) {
  Values out(out_shape);
  out.each([&](auto n, auto column, auto h, auto row) {
    double& sum = out.at(n, column, h, row);
    for (std::int64_t i = 0; i < a.shape.c; ++i) {
      const std::int64_t right_n = n % b.shape.n, right_h = h % b.shape.h;
      const double right = matmul.transpose_right ? b.at(right_n, i, right_h, column)
                                                  : b.at(right_n, column, right_h, i);
      sum += a.at(n % a.shape.n, i, h % a.shape.h, row) * right;
    }
  });
  return out;
}

}  // namespace hios::test
