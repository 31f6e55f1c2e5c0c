// The method of a convolution on the CPU backend, if it has two.
#include "engine/cpu/choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/cpu/backend.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "support/expect_error.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

using test::make_operation;
using test::OperationCase;
using Inputs = std::span<const TensorId>;

constexpr std::uint64_t kChoiceSeed = 13;
constexpr const char* kSignature = "conv";  // the case's name, as in other test cases

std::unique_ptr<Backend> choosing_backend(int threads, const Json& algorithms = Json::object()) {
  return cpu::make_backend({.threads = threads, .cores = {}, .algorithms = algorithms});
}

OperationCase convolution(const Shape& input, const Conv& conv, bool relu = false) {
  OperationCase one = make_operation(kSignature, input, {}, [&](ModelBuilder& b, Inputs x) {
    const TensorId y = b.conv("conv", x[0], conv);
    if (relu) b.relu("relu", y);
  });
  return one;
}

/// The same with an addend of the output's extents, and any activation after it.
OperationCase adding_convolution(const Shape& input, const Conv& conv,
                                 const LayerKind& activation) {
  const Shape output{input.n, conv.out_channels, input.h, input.w};
  return make_operation(kSignature, {input, output}, [&](ModelBuilder& b, Inputs x) {
    b.add("after", activation, {b.sum("sum", {b.conv("conv", x[0], conv), x[1]})});
  });
}

const Conv kThreeByThree{48, {3, 3}, {1, 1}, {1, 1}};

TEST(CpuChoices, AConvolutionIsTimedWhereThereAreTwoMethods) {
  const auto backend = choosing_backend(2);
  const Json timed = backend->algorithms(convolution({1, 32, 20, 20}, kThreeByThree).operation(),
                                         Choosing::kByTiming);
  ASSERT_EQ(timed.size(), 1u);
  EXPECT_TRUE(cpu::Method::from(timed[kSignature].get<std::string>())) << timed;
  Conv strided = kThreeByThree, grouped = kThreeByThree, dilated = kThreeByThree;
  strided.stride = {2, 2};
  grouped.groups = 2;
  dilated.dilation = {2, 2};
  for (const Conv& conv : {strided, grouped, dilated, Conv{48, {1, 1}, {1, 1}, {0, 0}}}) {
    const auto another = choosing_backend(1);
    EXPECT_EQ(
        another->algorithms(convolution({1, 32, 20, 20}, conv).operation(), Choosing::kByTiming),
        Json::object())
        << attributes_text(conv);
  }
}

TEST(CpuChoices, WithoutTimingNothingIsChosenAndGivenMethodsStay) {
  const OperationCase one = convolution({1, 32, 20, 20}, kThreeByThree);
  const auto backend = choosing_backend(1);
  EXPECT_EQ(backend->algorithms(one.operation(), Choosing::kByRule), Json::object());
  const Json given{{kSignature, "winograd"}};
  backend->adopt(given);
  EXPECT_EQ(backend->algorithms(one.operation(), Choosing::kByRule), given);
  EXPECT_EQ(backend->algorithms(one.operation(), Choosing::kByTiming), given);
  const Json other{{kSignature, "direct"}};
  EXPECT_EQ(choosing_backend(1, other)->algorithms(one.operation(), Choosing::kByTiming), other);
}

TEST(CpuChoices, AMethodForWholeImagesIsTimedAgainForParts) {
  const OperationCase one = convolution({1, 32, 20, 20}, kThreeByThree);
  for (const char* text : {"winograd", "winograd 8", "winograd 4", "direct", "direct 9"}) {
    const std::string method = text;
    const bool stays = method.starts_with("direct") || method == "winograd 4";
    const Json chosen = choosing_backend(1, {{kSignature, method}})
                            ->algorithms(one.operation(), Choosing::kByTimingInParts);
    const std::string now = chosen.at(kSignature).get<std::string>();
    EXPECT_EQ(now == method, stays) << now;
    EXPECT_TRUE(stays || now == "direct" || now == "winograd 4") << now;
  }
}

TEST(CpuChoices, AMethodIsWrittenAndRead) {
  using cpu::Method;
  for (const Method& method : {Method{}, Method{true, 0}, Method{true, 12}, Method{false, 9}}) {
    EXPECT_EQ(Method::from(method.text()), method) << method.text();
  }
  for (const char* text : {"", "fft", "winograd ", "winograd 0", "winograd -1", "winograd 8 ",
                           "winograd8", "winograd 257", "winograd 9223372036854775807",
                           "winograd 99999999999999999999", "direct 0", "direct 8x", "direct8"}) {
    EXPECT_EQ(Method::from(text), std::nullopt) << text;
  }
}

TEST(CpuChoices, AnUnknownMethodIsRefused) {
  const auto backend = choosing_backend(1);
  test::expect_error<InputError>(
      [&] {
        backend->adopt({{kSignature, "fft"}});
      },
      {"knows no algorithm \"fft\" for conv"});
  test::expect_error<InputError>(
      [&] {
        backend->adopt({{kSignature, 3}});
      },
      {"knows no algorithm 3"});
  test::expect_error<InputError>([&] { backend->adopt(Json::array()); },
                                 {"not an object of strings"});
}

// A convolution at another stride has no such method, and is computed directly.
TEST(CpuChoices, WinogradsMethodAgreesWithTheReference) {
  const Conv few{7, {3, 3}, {1, 1}, {1, 1}}, valid{64, {3, 3}, {1, 1}, {0, 0}},
      wide{40, {3, 3}, {1, 1}, {2, 2}, 1, false}, around{32, {3, 3}, {1, 1}, {2, 2}},
      strided{16, {3, 3}, {2, 2}, {1, 1}};
  Conv uneven{12, {3, 3}, {1, 1}, {4, 3}};
  uneven.padding.end = {0, 1};
  const std::vector<OperationCase> cases = {
      convolution({1, 32, 20, 20}, kThreeByThree),
      convolution({2, 32, 20, 20}, kThreeByThree, true),
      convolution({1, 3, 9, 11}, few),
      convolution({1, 64, 13, 15}, valid, true),
      convolution({1, 19, 8, 5}, wide),
      convolution({1, 16, 9, 9}, strided),
      convolution({2, 32, 21, 20}, around),
      convolution({1, 16, 30, 6}, valid),
      adding_convolution({3, 20, 9, 14}, kThreeByThree, Relu{}),
      adding_convolution({2, 32, 7, 7}, kThreeByThree, Unary{Unary::Function::kSilu}),
      adding_convolution({1, 5, 1, 3}, kThreeByThree, Unary{Unary::Function::kClip, -0.1f, 0.1f}),
      convolution({1, 96, 13, 13}, Conv{96, {3, 3}, {1, 1}, {1, 1}}),
      convolution({2, 8, 5, 2}, uneven, true)};
  const auto reference = reference::make_backend({});
  for (const OperationCase& one : cases) {
    const auto expected = test::run_operation(*reference, one, 1, kChoiceSeed);
    for (const char* method :
         {"winograd", "winograd 3", "winograd 4", "winograd 12", "winograd 256"}) {
      for (const int threads : {1, 2, 3}) {
        SCOPED_TRACE(attributes_text(one.model.layer(LayerId(0)).kind) + " by " + method + " on " +
                     std::to_string(threads));
        const auto backend = choosing_backend(threads, {{kSignature, method}});
        const auto values = test::run_operation(*backend, one, threads, kChoiceSeed);
        EXPECT_EQ(job::compare(values, expected, {.atol = 1e-4, .rtol = 1e-4}).outside, 0u);
        const auto again = test::run_operation(*backend, one, threads, kChoiceSeed);
        EXPECT_TRUE(job::compare(again, values, {}).bitwise);
      }
    }
  }
}

TEST(CpuChoices, DirectBlocksOfRowsAgreeWithTheReference) {
  Conv strided = kThreeByThree, grouped = kThreeByThree, dilated = kThreeByThree;
  strided.stride = {2, 2};
  grouped.groups = 2;
  dilated.dilation = {2, 2};
  const Conv tall{16, {5, 1}, {1, 1}, {2, 0}}, plain{24, {1, 1}, {1, 1}, {0, 0}};
  const auto reference = reference::make_backend({});
  for (const Conv& conv : {kThreeByThree, strided, grouped, dilated, tall, plain}) {
    const OperationCase one = convolution({2, 32, 11, 9}, conv, true);
    const auto expected = test::run_operation(*reference, one, 1, kChoiceSeed);
    for (const char* method : {"direct 1", "direct 3", "direct 4", "direct 256"}) {
      SCOPED_TRACE(attributes_text(conv) + " by " + method);
      const auto backend = choosing_backend(2, {{kSignature, method}});
      const auto values = test::run_operation(*backend, one, 2, kChoiceSeed);
      EXPECT_EQ(job::compare(values, expected, {.atol = 1e-4, .rtol = 1e-4}).outside, 0u);
    }
  }
}

TEST(CpuChoices, WinogradsMethodIsTheOneThatRuns) {
  for (const OperationCase& one : {convolution({1, 32, 20, 20}, kThreeByThree),
                                   adding_convolution({1, 32, 20, 20}, kThreeByThree, Relu{})}) {
    const auto direct = test::run_operation(*choosing_backend(1), one, 1, kChoiceSeed);
    const auto winograd =
        test::run_operation(*choosing_backend(1, {{kSignature, "winograd"}}), one, 1, kChoiceSeed);
    EXPECT_FALSE(job::compare(winograd, direct, {}).bitwise) << "other sums, other last bits";
  }
}

TEST(CpuChoices, WinogradsMethodIsAccurateWithManyChannels) {
  const OperationCase one =
      convolution({1, 1024, 9, 9}, Conv{16, {3, 3}, {1, 1}, {1, 1}, 1, false});
  const auto expected = test::run_operation(*reference::make_backend({}), one, 1, kChoiceSeed);
  const auto values =
      test::run_operation(*choosing_backend(1, {{kSignature, "winograd"}}), one, 1, kChoiceSeed);
  float largest = 0, error = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    error = std::max(error, std::abs(values[i] - expected[i]));
  }
  EXPECT_LT(error, 5e-6f * largest) << largest;
}

// A block of four rows is the same product wherever it lies, for any thread that computes it by
// itself.
TEST(CpuChoices, ThreadsDoNotChangeTheBitsOfWinogradsMethodInFourRows) {
  for (const Shape& shape : {Shape{3, 40, 23, 17}, {2, 16, 60, 33}}) {
    const OperationCase one = convolution(shape, kThreeByThree);
    const auto values = [&](int threads) {
      return test::run_operation(*choosing_backend(threads, {{kSignature, "winograd 4"}}), one,
                                 threads, kChoiceSeed);
    };
    const auto first = values(1);
    for (const int threads : {2, 3}) {
      EXPECT_TRUE(job::compare(values(threads), first, {}).bitwise) << threads;
    }
  }
}

}  // namespace
}  // namespace hios
