// Every kind of operator on the GPU: right (against the reference backend), the same bits again,
// and every algorithm that may be chosen for a convolution, chosen once.
#include <gtest/gtest.h>

#include "engine/cuda/backend.h"
#include "engine/reference/backend.h"
#include "engine/verify.h"
#include "support/operations.h"

namespace hios {
namespace {

constexpr std::uint64_t kSeed = 7;

using Operator = const test::OperationCase*;

class GpuOperator : public testing::TestWithParam<Operator> {
 protected:
  static std::vector<float> expected() {
    return test::run_operation(*reference::make_backend({}), *GetParam(), 1, kSeed);
  }
};

TEST_P(GpuOperator, AgreesWithTheReference) {
  const auto backend = cuda::make_backend({});
  ASSERT_FALSE(backend->unsupported(GetParam()->operation()).has_value());
  const Comparison comparison = compare(test::run_operation(*backend, *GetParam(), 1, kSeed),
                                        expected(), {.atol = 1e-4, .rtol = 1e-4});
  EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;
}

TEST_P(GpuOperator, GivesTheSameBitsAgain) {
  const auto first = cuda::make_backend({});
  const auto values = test::run_operation(*first, *GetParam(), 1, kSeed);
  EXPECT_TRUE(compare(test::run_operation(*first, *GetParam(), 1, kSeed), values, {}).bitwise);
  BackendOptions same;
  same.algorithms = first->choices(GetParam()->operation());
  const auto second = cuda::make_backend(same);
  EXPECT_TRUE(compare(test::run_operation(*second, *GetParam(), 1, kSeed), values, {}).bitwise);
  EXPECT_EQ(second->choices(GetParam()->operation()), same.algorithms);
}

TEST_P(GpuOperator, AgreesInTf32WithinItsTolerance) {
  BackendOptions options;
  options.math = Math::kTf32;
  const auto backend = cuda::make_backend(options);
  const Comparison comparison = compare(test::run_operation(*backend, *GetParam(), 1, kSeed),
                                        expected(), {.atol = 2e-2, .rtol = 2e-2});
  EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;
}

std::vector<Operator> all_operators() {
  std::vector<Operator> result;
  for (const test::OperationCase& operation_case : test::operation_cases()) {
    result.push_back(&operation_case);
  }
  return result;
}

std::string name_of(const testing::TestParamInfo<Operator>& info) { return info.param->name; }

INSTANTIATE_TEST_SUITE_P(All, GpuOperator, testing::ValuesIn(all_operators()), name_of);

}  // namespace
}  // namespace hios
