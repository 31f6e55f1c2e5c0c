// Functions of one and of two values, and weighted sums of rows, over the vector type that the
// including file has defined. kernels_body.h includes this, and its rules hold here: everything is
// in an unnamed namespace, and nothing of the standard library is used.
//
// Exponential functions. exp(x) = 2^n · exp(r) with |r| ≤ ln 2 / 2, and exp(r) by its Taylor series
// to r^7 (the remainder is below 6e-9). exp(x) − 1 is composed without the cancellation. tanh, elu
// and similar functions use it, so near zero, too, they are correct to a few units in the last
// place. Logarithms use the series of the inverse hyperbolic tangent. The complementary error
// function is t·exp(p(t) − z²), t = 1/(1 + z/2), with p interpolated at the ten Chebyshev nodes of
// t for 0 ≤ z ≤ 9.3 (1.1e-7 relative); near zero, erf is its Taylor series. Results below 1e-37 may
// be zero. NaN stays NaN: every selection keeps the value if a comparison with it fails.
//
// A run ends in a vector with a mask that goes through the same operations, so the division into
// runs changes no bit.
#pragma once

#include "engine/cpu/kernels/kernels.h"

namespace hios::cpu {
namespace {

using IntVec = int __attribute__((vector_size(sizeof(Vec))));

inline Vec bits_as_floats(IntVec v) { return reinterpret_cast<Vec>(v); }
inline IntVec floats_as_bits(Vec v) { return reinterpret_cast<IntVec>(v); }
/// Subtracts with wrap-around: the bits of negative numbers leave the range.
inline IntVec minus_wrapping(IntVec a, IntVec b) {
  using UnsignedVec = unsigned __attribute__((vector_size(sizeof(Vec))));
  return reinterpret_cast<IntVec>(reinterpret_cast<UnsignedVec>(a) -
                                  reinterpret_cast<UnsignedVec>(b));
}
inline IntVec broadcast_bits(int value) { return IntVec{} + value; }

inline Vec absolute(Vec x) {
  return bits_as_floats(floats_as_bits(x) & broadcast_bits(0x7fffffff));
}
/// Returns the magnitude of `x` (≥ 0) with the sign of `sign`.
inline Vec with_sign(Vec x, Vec sign) {
  return bits_as_floats(floats_as_bits(x) |
                        (floats_as_bits(sign) & broadcast_bits(static_cast<int>(0x80000000u))));
}
inline Vec select_less(Vec a, Vec b, Vec then, Vec otherwise) { return a < b ? then : otherwise; }
inline Vec not_below(Vec x, float least) {
  const Vec bound = broadcast(least);
  return select_less(x, bound, bound, x);
}
inline Vec not_above(Vec x, float most) {
  const Vec bound = broadcast(most);
  return select_less(bound, x, bound, x);
}

/// Returns c[0] + c[1]·x + ….
template <int N>
inline Vec polynomial(Vec x, const float (&c)[N]) {
  Vec result = broadcast(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) result = fma(result, x, broadcast(c[i]));
  return result;
}

/// exp(x) as power + power·tail, where power is 2^n and tail is exp(r) − 1. REQUIRES: |x| < 90.
struct Exponential {
  Vec half_power;  // 2^(n−1): 2^128 is no float
  Vec tail;
};

inline Exponential exponential(Vec x) {
  constexpr float kLog2E = 1.44269504f, kRound = 12582912.0f;  // 1.5 · 2^23: adding it rounds
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  static constexpr float kSeries[] = {1.0f,       1.0f / 2,   1.0f / 6,   1.0f / 24,
                                      1.0f / 120, 1.0f / 720, 1.0f / 5040};
  const Vec shifted = fma(x, broadcast(kLog2E), broadcast(kRound));
  const Vec n = shifted - broadcast(kRound);
  Vec r = fma(n, broadcast(-kLn2High), x);
  r = fma(n, broadcast(-kLn2Low), r);
  const IntVec exponent = (floats_as_bits(shifted) << 23) + broadcast_bits((127 - 1) << 23);
  return {bits_as_floats(exponent), mul(r, polynomial(r, kSeries))};
}

constexpr float kExpLeast = -86.5f;      // below: zero
constexpr float kExpMost = 88.7228317f;  // above: infinite

inline Vec exp_of(Vec x) {
  const Exponential e = exponential(not_above(not_below(x, kExpLeast), kExpMost));
  const Vec value = fma(e.half_power, e.tail, e.half_power);
  const Vec result = add(value, value);
  const Vec finite = select_less(broadcast(kExpMost), x, broadcast(__builtin_inff()), result);
  return select_less(x, broadcast(kExpLeast), broadcast(0.0f), finite);
}

/// Returns exp(x) − 1.
inline Vec expm1_of(Vec x) {
  const Exponential e = exponential(not_above(not_below(x, kExpLeast), kExpMost));
  const Vec half = fma(e.half_power, e.tail, e.half_power - broadcast(0.5f));
  const Vec result = add(half, half);
  return select_less(broadcast(kExpMost), x, broadcast(__builtin_inff()), result);
}

/// Returns 2·artanh(s) for |s| ≤ 1/3: log((1+s)/(1−s)).
inline Vec log_ratio(Vec s) {
  static constexpr float kSeries[] = {2.0f,     2.0f / 3,  2.0f / 5,  2.0f / 7,
                                      2.0f / 9, 2.0f / 11, 2.0f / 13, 2.0f / 15};
  return mul(s, polynomial(mul(s, s), kSeries));
}

/// Returns log(1 + u) for 0 ≤ u ≤ 1.
inline Vec log1p_of(Vec u) { return log_ratio(u / (broadcast(2.0f) + u)); }

inline Vec log_of(Vec x) {
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f,
                  kLeastNormal = 1.17549435e-38f;
  const Vec zero = broadcast(0.0f), infinity = broadcast(__builtin_inff());
  const Vec tiny = select_less(x, broadcast(kLeastNormal), broadcast(1.0f), zero);
  const Vec scaled = fma(mul(x, tiny), broadcast(8388608.0f - 1.0f), x);  // · 2^23 where denormal
  // The exponent such that the mantissa is within √½ … √2: 0x3f3504f3 is √½.
  const IntVec bits = minus_wrapping(floats_as_bits(scaled), broadcast_bits(0x3f3504f3));
  const IntVec exponent = bits >> 23;
  const Vec m = bits_as_floats((bits & broadcast_bits(0x7fffff)) + broadcast_bits(0x3f3504f3));
  const Vec n = fma(tiny, broadcast(-23.0f), __builtin_convertvector(exponent, Vec));
  const Vec ratio = log_ratio((m - broadcast(1.0f)) / (m + broadcast(1.0f)));
  const Vec value = fma(n, broadcast(kLn2High), fma(n, broadcast(kLn2Low), ratio));
  const Vec below = x == zero ? -infinity : (x < zero ? broadcast(__builtin_nanf("")) : value);
  return x < infinity ? below : x;  // infinity or NaN
}

/// Returns y / (1 + exp(−x)). Where the exponential is infinite, the quotient is zero.
inline Vec gated(Vec y, Vec x) { return y / (broadcast(1.0f) + exp_of(-x)); }

inline Vec sigmoid_of(Vec x) { return gated(broadcast(1.0f), x); }

inline Vec tanh_of(Vec x) {
  const Vec e = expm1_of(mul(absolute(x), broadcast(-2.0f)));
  return with_sign(absolute(e / (e + broadcast(2.0f))), x);
}

/// Returns erfc(z) for z ≥ 0.
inline Vec erfc_of(Vec z) {
  static constexpr float kFit[] = {-1.26543349f,  0.998348712f,  0.388999301f,  0.0236664892f,
                                   0.0325688759f, -0.137827444f, -0.628076109f, 1.10639915f,
                                   -0.6597555f,   0.14111006f};
  const Vec t = broadcast(1.0f) / fma(z, broadcast(0.5f), broadcast(1.0f));
  return mul(t, exp_of(fma(-z, z, polynomial(t, kFit))));
}

inline Vec erf_of(Vec x) {
  // 2/√π · (−1)^k / (k! (2k+1))
  constexpr float kScale = 1.12837917f;
  static constexpr float kSeries[] = {
      kScale,          -kScale / 3,       kScale / 10,      -kScale / 42,
      kScale / 216,    -kScale / 1320,    kScale / 9360,    -kScale / 75600,
      kScale / 685440, -kScale / 6894720, kScale / 76204800};
  const Vec near = mul(x, polynomial(mul(x, x), kSeries));
  const Vec far = with_sign(broadcast(1.0f) - erfc_of(absolute(x)), x);
  return select_less(broadcast(1.0f), absolute(x), far, near);
}

// Functions of one value. P: alpha and beta, in every lane.
struct P {
  Vec alpha, beta;
};

struct AbsOf {
  static Vec of(Vec x, const P&) { return absolute(x); }
};
struct ClipOf {
  static Vec of(Vec x, const P& p) {
    const Vec low = select_less(x, p.alpha, p.alpha, x);
    return select_less(p.beta, low, p.beta, low);
  }
};
struct CeluOf {
  static Vec of(Vec x, const P& p) {
    return select_less(x, broadcast(0.0f), mul(p.alpha, expm1_of(x / p.alpha)), x);
  }
};
struct EluOf {
  static Vec of(Vec x, const P& p) {
    return select_less(x, broadcast(0.0f), mul(p.alpha, expm1_of(x)), x);
  }
};
struct ErfOf {
  static Vec of(Vec x, const P&) { return erf_of(x); }
};
struct ExpOf {
  static Vec of(Vec x, const P&) { return exp_of(x); }
};
struct GeluOf {
  static Vec of(Vec x, const P&) {
    const Vec tail = erfc_of(mul(absolute(x), broadcast(0.707106781f)));  // 1/√2
    const Vec twice = select_less(x, broadcast(0.0f), tail, broadcast(2.0f) - tail);
    return mul(mul(x, broadcast(0.5f)), twice);
  }
};
struct GeluTanhOf {  // (1 + tanh u) / 2 is sigmoid(2u)
  static Vec of(Vec x, const P&) {
    constexpr float kTwice = 1.59576912f;  // 2·√(2/π)
    const Vec cubic = fma(mul(x, x), broadcast(kTwice * 0.044715f), broadcast(kTwice));
    return gated(x, mul(x, cubic));
  }
};
struct HardSigmoidOf {
  static Vec of(Vec x, const P& p) {
    return not_above(not_below(fma(x, p.alpha, p.beta), 0.0f), 1.0f);
  }
};
struct HardSwishOf {
  static Vec of(Vec x, const P&) {
    const Vec gate = fma(x, broadcast(1.0f / 6), broadcast(0.5f));
    return mul(x, not_above(not_below(gate, 0.0f), 1.0f));
  }
};
struct LeakyReluOf {
  static Vec of(Vec x, const P& p) { return select_less(x, broadcast(0.0f), mul(x, p.alpha), x); }
};
struct LogOf {
  static Vec of(Vec x, const P&) { return log_of(x); }
};
struct MishOf {  // tanh(log(1 + e)) is (e² + 2e) / (e² + 2e + 2)
  static Vec of(Vec x, const P&) {
    const Vec e = exp_of(not_above(x, 20.0f));
    const Vec n = mul(e, e + broadcast(2.0f));
    return mul(x, n / (n + broadcast(2.0f)));
  }
};
struct NegOf {
  static Vec of(Vec x, const P&) { return -x; }
};
struct ReciprocalOf {
  static Vec of(Vec x, const P&) { return broadcast(1.0f) / x; }
};
struct SeluOf {
  static Vec of(Vec x, const P& p) {
    return mul(p.beta, select_less(x, broadcast(0.0f), mul(p.alpha, expm1_of(x)), x));
  }
};
struct SigmoidOf {
  static Vec of(Vec x, const P&) { return sigmoid_of(x); }
};
struct SiluOf {
  static Vec of(Vec x, const P&) { return gated(x, x); }
};
struct SoftplusOf {
  static Vec of(Vec x, const P&) { return add(not_below(x, 0.0f), log1p_of(exp_of(-absolute(x)))); }
};
struct SoftsignOf {
  static Vec of(Vec x, const P&) { return x / (broadcast(1.0f) + absolute(x)); }
};
struct SqrtOf {
  static Vec of(Vec x, const P&) { return square_root(x); }
};
struct TanhOf {
  static Vec of(Vec x, const P&) { return tanh_of(x); }
};
struct ThresholdedReluOf {
  static Vec of(Vec x, const P& p) { return x <= p.alpha ? broadcast(0.0f) : x; }
};

template <class Function>
void unary_run(const UnaryTask& task) {
  const P p{broadcast(task.alpha), broadcast(task.beta)};
  const std::size_t whole = task.count - task.count % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    store(task.output + i, Function::of(load(task.input + i), p));
  }
  if (whole == task.count) return;
  const Mask mask = mask_of(static_cast<std::ptrdiff_t>(task.count - whole));
  store(task.output + whole, Function::of(load(task.input + whole, mask), p), mask);
}

// Functions of two values.
struct AddOf {
  static Vec of(Vec a, Vec b) { return add(a, b); }
};
struct SubOf {
  static Vec of(Vec a, Vec b) { return a - b; }
};
struct MulOf {
  static Vec of(Vec a, Vec b) { return mul(a, b); }
};
struct DivOf {
  static Vec of(Vec a, Vec b) { return a / b; }
};
struct MinOf {
  static Vec of(Vec a, Vec b) { return a < b ? a : (a != a ? a : b); }
};
struct MaxOf {
  static Vec of(Vec a, Vec b) { return a > b ? a : (a != a ? a : b); }
};
struct PReluOf {
  static Vec of(Vec a, Vec b) { return select_less(a, broadcast(0.0f), mul(a, b), a); }
};

struct EqualOf {
  static Vec of(Vec a, Vec b) { return a == b ? broadcast(1.0f) : broadcast(0.0f); }
};
struct LessOf {
  static Vec of(Vec a, Vec b) { return a < b ? broadcast(1.0f) : broadcast(0.0f); }
};
struct LessOrEqualOf {
  static Vec of(Vec a, Vec b) { return a <= b ? broadcast(1.0f) : broadcast(0.0f); }
};
struct KeepIfOf {
  static Vec of(Vec a, Vec b) { return a != broadcast(0.0f) ? b : broadcast(0.0f); }
};

/// Runs over two operands. `Left`, `Right`: the operand advances with the output; else its one
/// value serves all.
template <class Function, bool Left, bool Right>
inline void binary_operands(const BinaryTask& task) {
  const Vec left = broadcast(task.left[0]), right = broadcast(task.right[0]);
  const std::size_t whole = task.count - task.count % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    store(task.output + i,
          Function::of(Left ? load(task.left + i) : left, Right ? load(task.right + i) : right));
  }
  if (whole == task.count) return;
  const Mask mask = mask_of(static_cast<std::ptrdiff_t>(task.count - whole));
  store(task.output + whole,
        Function::of(Left ? load(task.left + whole, mask) : left,
                     Right ? load(task.right + whole, mask) : right),
        mask);
}

template <class Function>
void binary_run(const BinaryTask& task) {
  if (task.left_moves && task.right_moves) return binary_operands<Function, true, true>(task);
  if (task.left_moves) return binary_operands<Function, true, false>(task);
  if (task.right_moves) return binary_operands<Function, false, true>(task);
  binary_operands<Function, false, false>(task);
}

/// Returns the weighted sum of the rows' values from `first` on, `mask` of them.
inline Vec weighted_values(const WeightedSumTask& task, std::size_t first, Mask mask) {
  Vec sum = mul(broadcast(task.weights[0]), load(task.rows[0] + first, mask));
  for (std::size_t row = 1; row < task.row_count; ++row) {
    sum = fma(broadcast(task.weights[row]), load(task.rows[row] + first, mask), sum);
  }
  return sum;
}

void weighted_sum(const WeightedSumTask& task) {
  for (std::size_t i = 0; i < task.count; i += kLanes) {
    const Mask mask = mask_of(static_cast<std::ptrdiff_t>(task.count - i));
    store(task.output + i, weighted_values(task, i, mask), mask);
  }
}

constexpr UnaryRuns kUnaryRuns = {&unary_run<AbsOf>,
                                  &unary_run<CeluOf>,
                                  &unary_run<ClipOf>,
                                  &unary_run<EluOf>,
                                  &unary_run<ErfOf>,
                                  &unary_run<ExpOf>,
                                  &unary_run<GeluOf>,
                                  &unary_run<GeluTanhOf>,
                                  &unary_run<HardSigmoidOf>,
                                  &unary_run<HardSwishOf>,
                                  &unary_run<LeakyReluOf>,
                                  &unary_run<LogOf>,
                                  &unary_run<MishOf>,
                                  &unary_run<NegOf>,
                                  &unary_run<ReciprocalOf>,
                                  &unary_run<SeluOf>,
                                  &unary_run<SigmoidOf>,
                                  &unary_run<SiluOf>,
                                  &unary_run<SoftplusOf>,
                                  &unary_run<SoftsignOf>,
                                  &unary_run<SqrtOf>,
                                  &unary_run<TanhOf>,
                                  &unary_run<ThresholdedReluOf>};

constexpr BinaryRuns kBinaryRuns = {
    &binary_run<AddOf>,  &binary_run<SubOf>,         &binary_run<MulOf>,   &binary_run<DivOf>,
    &binary_run<MinOf>,  &binary_run<MaxOf>,         &binary_run<PReluOf>, &binary_run<EqualOf>,
    &binary_run<LessOf>, &binary_run<LessOrEqualOf>, &binary_run<KeepIfOf>};

}  // namespace
}  // namespace hios::cpu
