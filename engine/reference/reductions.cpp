// Sums, maxima and products over some of the axes. All are accumulated in double precision, in
// memory order.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/reference/loops.h"

namespace hios::reference {
namespace {

/// Returns the extent of the values reduced together: all of a reduced axis, one of any other.
Index extent_of(const Axes& axes, const Shape& shape) {
  return {axes.n ? shape.n : 1, axes.h ? shape.h : 1, axes.w ? shape.w : 1, axes.c ? shape.c : 1};
}

/// Calls visit(box) for every box of this extent in the tensor.
template <class Visit>
void for_each_box(const Shape& shape, const Index& extent, Visit visit) {
  const Shape boxes{shape.n / extent.n, shape.c / extent.c, shape.h / extent.h, shape.w / extent.w};
  for_each_index(boxes, [&](const Index& at) {
    const Index begin{at.n * extent.n, at.h * extent.h, at.w * extent.w, at.c * extent.c};
    visit(Box{begin,
              {begin.n + extent.n, begin.h + extent.h, begin.w + extent.w, begin.c + extent.c}});
  });
}

/// Returns Σ term(x) over a box.
template <class Term>
double sum_over(const Box& box, const Input& in, Term term) {
  double sum = 0;
  for_each_index(box, [&](const Index& at) {
    sum += term(static_cast<double>(in.data[offset(in.shape, at)]));
  });
  return sum;
}

double greatest(const Box& box, const Input& in) {
  double result = -std::numeric_limits<double>::infinity();
  for_each_index(box, [&](const Index& at) {
    result = std::max(result, static_cast<double>(in.data[offset(in.shape, at)]));
  });
  return result;
}

double least(const Box& box, const Input& in) {
  double result = std::numeric_limits<double>::infinity();
  for_each_index(box, [&](const Index& at) {
    result = std::min(result, static_cast<double>(in.data[offset(in.shape, at)]));
  });
  return result;
}

double product(const Box& box, const Input& in) {
  double result = 1;
  for_each_index(box, [&](const Index& at) { result *= in.data[offset(in.shape, at)]; });
  return result;
}

/// Returns Σ exp(x − maximum): between 1 and the number of values.
double sum_of_exponentials(const Box& box, const Input& in, double greatest) {
  return sum_over(box, in, [&](double x) { return std::exp(x - greatest); });
}

double log_sum_of_exponentials(const Box& box, const Input& in) {
  const double most = greatest(box, in);
  if (std::isinf(most)) return most;
  return most + std::log(sum_of_exponentials(box, in, most));
}

double count_of(const Box& box) {
  return static_cast<double>((box.end.n - box.begin.n) * (box.end.h - box.begin.h) *
                             (box.end.w - box.begin.w) * (box.end.c - box.begin.c));
}

double reduced(Reduce::Function function, const Box& box, const Input& in) {
  const auto itself = [](double x) { return x; };
  const auto square = [](double x) { return x * x; };
  switch (function) {
    case Reduce::Function::kL1:
      return sum_over(box, in, [](double x) { return std::abs(x); });
    case Reduce::Function::kL2:
      return std::sqrt(sum_over(box, in, square));
    case Reduce::Function::kLogSum:
      return std::log(sum_over(box, in, itself));
    case Reduce::Function::kLogSumExp:
      return log_sum_of_exponentials(box, in);
    case Reduce::Function::kMax:
      return greatest(box, in);
    case Reduce::Function::kMean:
      return sum_over(box, in, itself) / count_of(box);
    case Reduce::Function::kMin:
      return least(box, in);
    case Reduce::Function::kProd:
      return product(box, in);
    case Reduce::Function::kSum:
      return sum_over(box, in, itself);
    case Reduce::Function::kSumSquare:
      return sum_over(box, in, square);
  }
  return 0;  // no such function
}

}  // namespace

void reduce(const Reduce& reduce, const Input& in, const Output& out) {
  float* next = out.data;
  for_each_box(in.shape, extent_of(reduce.axes, in.shape), [&](const Box& box) {
    *next++ = static_cast<float>(reduced(reduce.function, box, in));
  });
}

void softmax(const Softmax& softmax, const Input& in, const Output& out) {
  for_each_box(in.shape, extent_of(softmax.axes, in.shape), [&](const Box& box) {
    const double most = greatest(box, in), sum = sum_of_exponentials(box, in, most);
    for_each_index(box, [&](const Index& at) {
      const std::int64_t i = offset(in.shape, at);
      const double x = in.data[i] - most;
      out.data[i] = static_cast<float>(softmax.log ? x - std::log(sum) : std::exp(x) / sum);
    });
  });
}

void normalize(const Normalization& layer, const Input& in, const Input& scale, const Input& bias,
               const Output& out) {
  Index extent = extent_of(layer.axes, in.shape);
  if (layer.groups > 0) extent.c = in.shape.c / layer.groups;
  for_each_box(in.shape, extent, [&](const Box& box) {
    const double mean = sum_over(box, in, [](double x) { return x; }) / count_of(box);
    const double variance =
        sum_over(box, in, [&](double x) { return (x - mean) * (x - mean); }) / count_of(box);
    const double deviation = std::sqrt(variance + static_cast<double>(layer.epsilon));
    for_each_index(box, [&](const Index& at) {
      const std::int64_t i = offset(in.shape, at);
      double value = (in.data[i] - mean) / deviation;
      if (layer.scale) value *= broadcast_value(scale, at);
      if (layer.bias) value += broadcast_value(bias, at);
      out.data[i] = static_cast<float>(value);
    });
  });
}

void normalize_response(const LocalResponseNormalization& layer, const Input& in,
                        const Output& out) {
  const std::int64_t before = (layer.size - 1) / 2, after = layer.size - 1 - before;
  const double alpha = layer.alpha, beta = layer.beta, bias = layer.bias;
  for_each_pixel(in.shape, [&](std::int64_t n, std::int64_t h, std::int64_t w) {
    const float* x = pixel(in, n, h, w);
    float* result = pixel(out, n, h, w);
    for (std::int64_t c = 0; c < in.shape.c; ++c) {
      double squares = 0;
      const std::int64_t end = std::min(c + after + 1, in.shape.c);
      for (std::int64_t i = std::max<std::int64_t>(c - before, 0); i < end; ++i) {
        squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      }
      const double base = bias + alpha / static_cast<double>(layer.size) * squares;
      result[c] = static_cast<float>(x[c] / std::pow(base, beta));
    }
  });
}

void multiply(const MatMul& matmul, const Input& left, const Input& right, const Output& out) {
  const std::int64_t inner = left.shape.c, columns = out.shape.c;
  // Strides of the right matrix from a value to the one below it, and to the one on its right.
  const std::int64_t down = matmul.transpose_right ? 1 : columns;
  const std::int64_t across = matmul.transpose_right ? inner : 1;
  const auto matrix = [](const Input& of, std::int64_t n, std::int64_t h) {
    return pixel(of, of.shape.n == 1 ? 0 : n, of.shape.h == 1 ? 0 : h, 0);
  };
  for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t h, std::int64_t row) {
    const float* a = matrix(left, n, h) + row * inner;
    float* result = pixel(out, n, h, row);
    for (std::int64_t first = 0; first < columns; first += kBlock) {
      const std::int64_t count = std::min(kBlock, columns - first);
      const float* b = matrix(right, n, h) + first * across;
      std::array<double, kBlock> sums{};
      for (std::int64_t i = 0; i < inner; ++i) {
        const double x = a[i];
        for (std::int64_t c = 0; c < count; ++c) sums[c] += x * b[i * down + c * across];
      }
      for (std::int64_t c = 0; c < count; ++c) result[first + c] = static_cast<float>(sums[c]);
    }
  });
}

}  // namespace hios::reference
