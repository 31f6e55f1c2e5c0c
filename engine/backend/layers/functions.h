#pragma once

#include <cmath>
#include <numbers>

#include "hios/model/layer.h"

#ifdef __CUDACC__
#define HIOS_HOST_AND_DEVICE __host__ __device__
#else
#define HIOS_HOST_AND_DEVICE
#endif

/// The functions of one value and of two, in the arithmetic of `Real`: double for the reference
/// backend, float for kernels of GPUs. Each has the form that neither overflows nor cancels.
namespace hios::functions {

// std::max and std::min for every device, with the same result for NaN.
template <class Real>
HIOS_HOST_AND_DEVICE inline Real greater(Real a, Real b) {
  return a < b ? b : a;
}
template <class Real>
HIOS_HOST_AND_DEVICE inline Real lesser(Real a, Real b) {
  return b < a ? b : a;
}

HIOS_HOST_AND_DEVICE inline double sine(double x) { return std::sin(x); }
HIOS_HOST_AND_DEVICE inline double cosine(double x) { return std::cos(x); }
HIOS_HOST_AND_DEVICE inline double tangent(double x) { return std::tan(x); }

/// Sine and cosine of a float. CUDA's own keep an array on the stack, for values that are so large
/// that neighbouring floats are many periods apart; from 2^50 on, these here are not exact.
struct SineAndCosine {
  double sine, cosine;

  HIOS_HOST_AND_DEVICE explicit SineAndCosine(float of) {
    constexpr double kHalfPi = 1.5707963267948966, kHalfPiRest = 6.123233995736766e-17;
    const double x = of, turns = std::nearbyint(x * std::numbers::inv_pi * 2);
    const double quarter = turns - 4 * std::floor(turns / 4);
    double rest = std::fma(-turns, kHalfPiRest, std::fma(-turns, kHalfPi, x));
    rest = lesser(greater(rest, -1.0), 1.0);
    const double square = rest * rest;
    const double s =
        rest +
        rest * square *
            (-1.0 / 6 +
             square * (1.0 / 120 + square * (-1.0 / 5040 +
                                             square * (1.0 / 362880 - square * (1.0 / 39916800)))));
    const double c =
        1 + square *
                (-1.0 / 2 +
                 square * (1.0 / 24 + square * (-1.0 / 720 + square * (1.0 / 40320 -
                                                                       square * (1.0 / 3628800)))));
    const bool swapped = quarter == 1 || quarter == 3;
    sine = quarter >= 2 ? -(swapped ? c : s) : (swapped ? c : s);
    cosine = quarter == 1 || quarter == 2 ? -(swapped ? s : c) : (swapped ? s : c);
  }
};
HIOS_HOST_AND_DEVICE inline float sine(float x) {
  return static_cast<float>(SineAndCosine(x).sine);
}
HIOS_HOST_AND_DEVICE inline float cosine(float x) {
  return static_cast<float>(SineAndCosine(x).cosine);
}
HIOS_HOST_AND_DEVICE inline float tangent(float x) {
  const SineAndCosine both(x);
  return static_cast<float>(both.sine) / static_cast<float>(both.cosine);
}

template <class Real>
HIOS_HOST_AND_DEVICE inline Real sigmoid(Real x) {
  return 1 / (1 + std::exp(-x));
}
template <class Real>
HIOS_HOST_AND_DEVICE inline Real softplus(Real x) {
  return greater(x, Real(0)) + std::log1p(std::exp(-std::abs(x)));
}
template <class Real>
HIOS_HOST_AND_DEVICE inline Real gelu(Real x) {
  return Real(0.5) * x * std::erfc(-x / Real(std::numbers::sqrt2));
}
template <class Real>
HIOS_HOST_AND_DEVICE inline Real gelu_tanh(Real x) {
  const Real inner =
      Real(std::numbers::sqrt2 * std::numbers::inv_sqrtpi) * (x + Real(0.044715) * x * x * x);
  return Real(0.5) * x * (1 + std::tanh(inner));
}
template <class Real>
HIOS_HOST_AND_DEVICE inline Real sign(Real x) {
  return x > 0 ? Real(1) : x < 0 ? Real(-1) : x;
}
/// Returns x between `least` and `most`.
template <class Real>
HIOS_HOST_AND_DEVICE inline Real clipped(Real x, Real least, Real most) {
  return lesser(greater(x, least), most);
}

template <class Real>
HIOS_HOST_AND_DEVICE inline Real value_of(Unary::Function function, Real alpha, Real beta, Real x) {
  using Function = Unary::Function;
  switch (function) {
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
      return greater(Real(0), x) + lesser(Real(0), alpha * std::expm1(x / alpha));
    case Function::kClip:
      return clipped(x, alpha, beta);
    case Function::kCos:
      return cosine(x);
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
      return greater(Real(0), lesser(Real(1), alpha * x + beta));
    case Function::kHardSwish:
      return x * greater(Real(0), lesser(Real(1), x / 6 + Real(0.5)));
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
      return sine(x);
    case Function::kSinh:
      return std::sinh(x);
    case Function::kSoftplus:
      return softplus(x);
    case Function::kSoftsign:
      return x / (1 + std::abs(x));
    case Function::kSqrt:
      return std::sqrt(x);
    case Function::kTan:
      return tangent(x);
    case Function::kTanh:
      return std::tanh(x);
    case Function::kThresholdedRelu:
      return x > alpha ? x : Real(0);
  }
  return x;  // no such function
}

template <class Real>
HIOS_HOST_AND_DEVICE inline Real value_of(Binary::Function function, Real a, Real b) {
  using Function = Binary::Function;
  switch (function) {
    case Function::kAdd:
      return a + b;
    case Function::kSub:
      return a - b;
    case Function::kMul:
      return a * b;
    case Function::kDiv:
      return a / b;
    case Function::kMin:
      return lesser(a, b);
    case Function::kMax:
      return greater(a, b);
    case Function::kPow:
      return std::pow(a, b);
    case Function::kPRelu:
      return a < 0 ? a * b : a;
    case Function::kEqual:
      return a == b ? Real(1) : Real(0);
    case Function::kLess:
      return a < b ? Real(1) : Real(0);
    case Function::kLessOrEqual:
      return a <= b ? Real(1) : Real(0);
    case Function::kKeepIf:
      return a != 0 ? b : Real(0);
  }
  return a;  // no such function
}

}  // namespace hios::functions
