// Functions of one value and of two, and sums of many. Each value is computed in double precision,
// in the form that neither overflows nor cancels, and rounded once.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "engine/reference/loops.h"

namespace hios::reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh(double x) {
  const double inner = std::numbers::sqrt2 * std::numbers::inv_sqrtpi * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

double value_of(const Unary& unary, double x) {
  using Function = Unary::Function;
  const double alpha = unary.alpha, beta = unary.beta;
  switch (unary.function) {
    case Function::kAbs:
      return std::abs(x);
    case Function::kAcos:
      return std::acos(x);
    case Function::kAcosh:
      return std::acosh(x);
    case Function::kAsin:
      return std::asin(x);
    case Function::kAsinh:
      return std::asinh(x);
    case Function::kAtan:
      return std::atan(x);
    case Function::kAtanh:
      return std::atanh(x);
    case Function::kCeil:
      return std::ceil(x);
    case Function::kCelu:
      return std::max(0.0, x) + std::min(0.0, alpha * std::expm1(x / alpha));
    case Function::kClip:
      return std::min(std::max(x, alpha), beta);
    case Function::kCos:
      return std::cos(x);
    case Function::kCosh:
      return std::cosh(x);
    case Function::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Function::kErf:
      return std::erf(x);
    case Function::kExp:
      return std::exp(x);
    case Function::kFloor:
      return std::floor(x);
    case Function::kGelu:
      return gelu(x);
    case Function::kGeluTanh:
      return gelu_tanh(x);
    case Function::kHardSigmoid:
      return std::max(0.0, std::min(1.0, alpha * x + beta));
    case Function::kHardSwish:
      return x * std::max(0.0, std::min(1.0, x / 6 + 0.5));
    case Function::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Function::kLog:
      return std::log(x);
    case Function::kMish:
      return x * std::tanh(softplus(x));
    case Function::kNeg:
      return -x;
    case Function::kReciprocal:
      return 1 / x;
    case Function::kRound:
      return std::nearbyint(x);  // halves to even: the default of IEEE 754
    case Function::kSelu:
      return beta * (x > 0 ? x : alpha * std::expm1(x));
    case Function::kSigmoid:
      return sigmoid(x);
    case Function::kSign:
      return sign(x);
    case Function::kSilu:
      return x * sigmoid(x);
    case Function::kSin:
      return std::sin(x);
    case Function::kSinh:
      return std::sinh(x);
    case Function::kSoftplus:
      return softplus(x);
    case Function::kSoftsign:
      return x / (1 + std::abs(x));
    case Function::kSqrt:
      return std::sqrt(x);
    case Function::kTan:
      return std::tan(x);
    case Function::kTanh:
      return std::tanh(x);
    case Function::kThresholdedRelu:
      return x > alpha ? x : 0;
  }
  return x;  // no such function
}

double value_of(Binary::Function function, double a, double b) {
  switch (function) {
    case Binary::Function::kAdd:
      return a + b;
    case Binary::Function::kSub:
      return a - b;
    case Binary::Function::kMul:
      return a * b;
    case Binary::Function::kDiv:
      return a / b;
    case Binary::Function::kMin:
      return std::min(a, b);
    case Binary::Function::kMax:
      return std::max(a, b);
    case Binary::Function::kPow:
      return std::pow(a, b);
    case Binary::Function::kPRelu:
      return a < 0 ? a * b : a;
    case Binary::Function::kEqual:
      return a == b;
    case Binary::Function::kLess:
      return a < b;
    case Binary::Function::kLessOrEqual:
      return a <= b;
    case Binary::Function::kKeepIf:
      return a != 0 ? b : 0;
  }
  return a;  // no such function
}

}  // namespace

void unary(const Unary& unary, const Input& in, const Output& out) {
  for (std::int64_t i = 0; i < out.shape.elements(); ++i) {
    out.data[i] = static_cast<float>(value_of(unary, in.data[i]));
  }
}

void binary(const Binary& binary, const Input& left, const Input& right, const Output& out) {
  float* next = out.data;
  for_each_index(out.shape, [&](const Index& at) {
    *next++ = static_cast<float>(
        value_of(binary.function, broadcast_value(left, at), broadcast_value(right, at)));
  });
}

void relu(const Input& in, const Output& out) {
  for (std::int64_t i = 0; i < out.shape.elements(); ++i) out.data[i] = std::max(in.data[i], 0.0f);
}

void sum(std::span<const Input> in, const Output& out) {
  for (std::int64_t first = 0; first < out.shape.elements(); first += kBlock) {
    const std::int64_t count = std::min(kBlock, out.shape.elements() - first);
    std::array<double, kBlock> sums{};
    for (const Input& term : in) add_values(sums.data(), term.data + first, count);
    for (std::int64_t i = 0; i < count; ++i) out.data[first + i] = static_cast<float>(sums[i]);
  }
}

}  // namespace hios::reference
