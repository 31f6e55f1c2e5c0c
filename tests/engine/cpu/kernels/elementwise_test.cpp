// The loops of elementwise_body.h, for every instruction set of this processor, against the
// standard library in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/cpu/kernels/kernels_here.h"
#include "hios/base/numbers/random.h"

namespace hios::cpu {
namespace {

using Floats = std::vector<float>;
using Exact = std::function<double(double)>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

class CpuElementwise : public testing::TestWithParam<const Kernels*> {};

Floats applied(UnaryRun run, const Floats& input, float alpha = 0, float beta = 0) {
  Floats output(input.size());
  run({input.data(), output.data(), input.size(), alpha, beta});
  return output;
}

/// Returns arguments from −30 to 30, denser about zero, and tiny magnitudes of both signs.
Floats arguments() {
  Floats result{0.0f};
  for (int i = -3000; i <= 3000; ++i) {
    const double x = i / 3000.0;
    result.push_back(static_cast<float>(30 * x * std::abs(x)));
  }
  for (double tiny = 1e-12; tiny < 1; tiny *= 1.7) {
    result.push_back(static_cast<float>(tiny));
    result.push_back(static_cast<float>(-tiny));
  }
  return result;
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct UnaryCase {
  const char* name;
  UnaryRun UnaryRuns::*run;
  Exact exact;
  double relative = 1e-6;  ///< relative to the result
  float alpha = 0, beta = 0;
};

/// Where the exact function approaches zero by cancellation, only the size of its arguments bounds
/// the error: `relative` is larger there.
std::vector<UnaryCase> unary_cases() {
  using U = UnaryRuns;
  return {
      {"abs", &U::abs, [](double x) { return std::abs(x); }, 0},
      {"celu", &U::celu, [](double x) { return x < 0 ? 1.5 * std::expm1(x / 1.5) : x; }, 1e-6,
       1.5f},
      {"clip", &U::clip, [](double x) { return std::clamp(x, -1.0, 6.0); }, 0, -1, 6},
      {"elu", &U::elu, [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }, 1e-6, 0.5f},
      {"erf", &U::erf, [](double x) { return std::erf(x); }},
      {"exp", &U::exp, [](double x) { return std::exp(x); }},
      {"gelu", &U::gelu, [](double x) { return x / 2 * std::erfc(-x * M_SQRT1_2); }, 5e-5},
      {"gelu_tanh", &U::gelu_tanh,
       [](double x) { return x * sigmoid(std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x)); },
       2e-5},
      {"hard_sigmoid", &U::hard_sigmoid,
       [](double x) { return std::clamp(0.25 * x + 0.5, 0.0, 1.0); }, 1e-4, 0.25f, 0.5f},
      {"hard_swish", &U::hard_swish, [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); },
       1e-3},
      {"leaky_relu", &U::leaky_relu, [](double x) { return x < 0 ? 0.125 * x : x; }, 0, 0.125f},
      {"log", &U::log, [](double x) { return std::log(x); }},
      {"mish", &U::mish, [](double x) { return x * std::tanh(softplus(x)); }},
      {"neg", &U::neg, [](double x) { return -x; }, 0},
      {"reciprocal", &U::reciprocal, [](double x) { return 1 / x; }},
      {"selu", &U::selu, [](double x) { return 1.0625 * (x < 0 ? 1.75 * std::expm1(x) : x); }, 1e-6,
       1.75f, 1.0625f},
      {"sigmoid", &U::sigmoid, sigmoid},
      {"silu", &U::silu, [](double x) { return x * sigmoid(x); }},
      {"softplus", &U::softplus, softplus},
      {"softsign", &U::softsign, [](double x) { return x / (1 + std::abs(x)); }},
      {"sqrt", &U::sqrt, [](double x) { return std::sqrt(x); }},
      {"tanh", &U::tanh, [](double x) { return std::tanh(x); }},
      {"thresholded_relu", &U::thresholded_relu, [](double x) { return x > 2 ? x : 0.0; }, 0, 2},
  };
}

TEST_P(CpuElementwise, FunctionsOfOneValueAreRightToAFewUnitsInTheLastPlace) {
  const Floats input = arguments();
  for (const UnaryCase& c : unary_cases()) {
    SCOPED_TRACE(c.name);
    const Floats output = applied(GetParam()->unary.*c.run, input, c.alpha, c.beta);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const double exact = c.exact(input[i]);
      if (std::isnan(exact) || std::isinf(exact)) {
        ASSERT_EQ(std::isnan(output[i]), std::isnan(exact)) << "of " << input[i];
        if (std::isinf(exact)) {
          ASSERT_EQ(output[i], exact) << "of " << input[i];
        }
      } else {
        ASSERT_NEAR(output[i], exact, c.relative * std::abs(exact) + 1e-36) << "of " << input[i];
      }
    }
  }
}

TEST_P(CpuElementwise, NotANumberAndInfinitiesAreTakenAsTheLimitsSay) {
  const UnaryRuns& unary = GetParam()->unary;
  const Floats ends{-kInfinity, kInfinity, -1000.0f, 1000.0f};
  EXPECT_EQ(applied(unary.exp, ends), (Floats{0, kInfinity, 0, kInfinity}));
  EXPECT_EQ(applied(unary.sigmoid, ends), (Floats{0, 1, 0, 1}));
  EXPECT_EQ(applied(unary.tanh, ends), (Floats{-1, 1, -1, 1}));
  EXPECT_EQ(applied(unary.erf, ends), (Floats{-1, 1, -1, 1}));
  EXPECT_EQ(applied(unary.softplus, ends), (Floats{0, kInfinity, 0, 1000}));
  EXPECT_EQ(applied(unary.elu, ends, 2), (Floats{-2, kInfinity, -2, 1000}));
  EXPECT_EQ(applied(unary.clip, ends, -3, 4), (Floats{-3, 4, -3, 4}));
  EXPECT_EQ(applied(unary.log, {0.0f, kInfinity, 1.0f}), (Floats{-kInfinity, kInfinity, 0}));
  for (const UnaryCase& c : unary_cases()) {
    EXPECT_TRUE(std::isnan(applied(unary.*c.run, {kNotANumber}, 1, 2)[0])) << c.name;
  }
  for (const BinaryRun run : {GetParam()->binary.min, GetParam()->binary.max}) {
    const Floats one{1.0f}, none{kNotANumber};
    Floats output(2);
    run({one.data(), none.data(), true, true, output.data(), 1});
    run({none.data(), one.data(), true, true, output.data() + 1, 1});
    EXPECT_TRUE(std::isnan(output[0]) && std::isnan(output[1]));
  }
}

TEST_P(CpuElementwise, WhereARunIsCutChangesNoBit) {
  const Floats input = arguments();
  for (const UnaryCase& c : unary_cases()) {
    SCOPED_TRACE(c.name);
    const UnaryRun run = GetParam()->unary.*c.run;
    const Floats whole = applied(run, input, c.alpha, c.beta);
    Floats pieces(input.size() + 1, kUntouched);
    for (std::size_t at = 0, length = 1; at < input.size();
         at += length, length = length % 37 + 1) {
      const std::size_t count = std::min(length, input.size() - at);
      run({input.data() + at, pieces.data() + at, count, c.alpha, c.beta});
    }
    ASSERT_EQ(pieces.back(), kUntouched);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(whole[i]), std::bit_cast<std::uint32_t>(pieces[i]))
          << "of " << input[i];
    }
  }
}

TEST_P(CpuElementwise, FunctionsOfTwoValuesWithEitherOperandBroadcast) {
  using B = BinaryRuns;
  const std::vector<std::pair<BinaryRun B::*, std::function<float(float, float)>>> cases{
      {&B::add, [](float a, float b) { return a + b; }},
      {&B::sub, [](float a, float b) { return a - b; }},
      {&B::mul, [](float a, float b) { return a * b; }},
      {&B::div, [](float a, float b) { return a / b; }},
      {&B::min, [](float a, float b) { return std::min(a, b); }},
      {&B::max, [](float a, float b) { return std::max(a, b); }},
      {&B::prelu, [](float a, float b) { return a < 0 ? a * b : a; }}};
  Random random(3);
  Floats left(45), right(45);
  for (float& value : left) value = static_cast<float>(random.uniform(-2, 2));
  for (float& value : right) value = static_cast<float>(random.uniform(-2, 2));
  for (const auto& [run, exact] : cases) {
    for (const int moving : {0, 1, 2, 3}) {
      for (const std::size_t count : {1u, 7u, 16u, 45u}) {
        const bool left_moves = moving % 2 != 0, right_moves = moving / 2 != 0;
        Floats output(46, kUntouched);
        (GetParam()->binary.*
         run)({left.data(), right.data(), left_moves, right_moves, output.data(), count});
        for (std::size_t i = 0; i < output.size(); ++i) {
          const float expected =
              i < count ? exact(left[left_moves ? i : 0], right[right_moves ? i : 0]) : kUntouched;
          ASSERT_EQ(output[i], expected) << "value " << i << " of " << count;
        }
      }
    }
  }
}

TEST_P(CpuElementwise, WeightedSums) {
  for (const std::size_t rows : {1u, 4u, 16u}) {
    for (const std::size_t count : {1u, 15u, 16u, 50u}) {
      Random random(rows * 100 + count);
      std::vector<Floats> values(rows, Floats(count));
      std::vector<const float*> pointers;
      Floats weights(rows), output(count + 1, kUntouched);
      for (float& weight : weights) weight = static_cast<float>(random.uniform(-1, 1));
      for (Floats& row : values) {
        for (float& value : row) value = static_cast<float>(random.uniform(-1, 1));
        pointers.push_back(row.data());
      }
      GetParam()->weighted_sum({pointers.data(), weights.data(), rows, output.data(), count});
      for (std::size_t i = 0; i < count; ++i) {
        double expected = 0;
        for (std::size_t row = 0; row < rows; ++row) expected += weights[row] * values[row][i];
        ASSERT_NEAR(output[i], expected, 1e-5);
      }
      ASSERT_EQ(output[count], kUntouched);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryInstructionSet, CpuElementwise,
                         testing::ValuesIn(kernels_that_run_here()),
                         [](const auto& c) { return std::string(c.param->name); });

}  // namespace
}  // namespace hios::cpu
