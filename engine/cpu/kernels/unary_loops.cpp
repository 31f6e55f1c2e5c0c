// The common ones are vector loops (elementwise_body.h); the others call the standard library for
// each value.
#include "engine/cpu/kernels/unary_loops.h"

#include <cmath>

namespace hios::cpu {
namespace {

template <class Function>
UnaryRun each(Function) {
  return [](const UnaryTask& task) {
    for (std::size_t i = 0; i < task.count; ++i) task.output[i] = Function()(task.input[i]);
  };
}

UnaryRun by_the_standard_library(Unary::Function function) {
  using enum Unary::Function;
  switch (function) {
    case kAcos:
      return each([](float x) { return std::acos(x); });
    case kAcosh:
      return each([](float x) { return std::acosh(x); });
    case kAsin:
      return each([](float x) { return std::asin(x); });
    case kAsinh:
      return each([](float x) { return std::asinh(x); });
    case kAtan:
      return each([](float x) { return std::atan(x); });
    case kAtanh:
      return each([](float x) { return std::atanh(x); });
    case kCeil:
      return each([](float x) { return std::ceil(x); });
    case kCos:
      return each([](float x) { return std::cos(x); });
    case kCosh:
      return each([](float x) { return std::cosh(x); });
    case kFloor:
      return each([](float x) { return std::floor(x); });
    case kRound:
      return each([](float x) { return std::nearbyint(x); });
    case kSign:
      return each([](float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; });
    case kSin:
      return each([](float x) { return std::sin(x); });
    case kSinh:
      return each([](float x) { return std::sinh(x); });
    case kTan:
      return each([](float x) { return std::tan(x); });
    default:
      return nullptr;
  }
}

}  // namespace

UnaryRun loop_of(Unary::Function function) {
  using enum Unary::Function;
  const UnaryRuns& runs = kernels().unary;
  switch (function) {
    case kAbs:
      return runs.abs;
    case kCelu:
      return runs.celu;
    case kClip:
      return runs.clip;
    case kElu:
      return runs.elu;
    case kErf:
      return runs.erf;
    case kExp:
      return runs.exp;
    case kGelu:
      return runs.gelu;
    case kGeluTanh:
      return runs.gelu_tanh;
    case kHardSigmoid:
      return runs.hard_sigmoid;
    case kHardSwish:
      return runs.hard_swish;
    case kLeakyRelu:
      return runs.leaky_relu;
    case kLog:
      return runs.log;
    case kMish:
      return runs.mish;
    case kNeg:
      return runs.neg;
    case kReciprocal:
      return runs.reciprocal;
    case kSelu:
      return runs.selu;
    case kSigmoid:
      return runs.sigmoid;
    case kSilu:
      return runs.silu;
    case kSoftplus:
      return runs.softplus;
    case kSoftsign:
      return runs.softsign;
    case kSqrt:
      return runs.sqrt;
    case kTanh:
      return runs.tanh;
    case kThresholdedRelu:
      return runs.thresholded_relu;
    default:
      return by_the_standard_library(function);
  }
}

}  // namespace hios::cpu
