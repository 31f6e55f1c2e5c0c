// Every kind of operator on the GPU: right (against the reference backend), the same bits again,
// and every possible algorithm of a convolution, chosen once.
#include <gtest/gtest.h>

#include <tuple>

#include "engine/cuda/backend.h"
#include "engine/cuda/operators/operators.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "support/layers/layer_operations.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

constexpr std::uint64_t kSeed = 7;

using Operator = const test::OperationCase*;

/// Returns the tolerance of one operator against the reference. fp32: the order of sums. tf32,
/// against fp32: inputs and weights have 10 bits of mantissa, by rounding or by truncation. fp16,
/// against fp16: the inputs are the same halves, but a kernel may round to halves inside an
/// operator, the reference only at its end.
job::Tolerance tolerance(Precision precision) {
  return precision == Precision::kFp32 ? job::Tolerance{1e-4, 1e-4} : job::Tolerance{2e-2, 2e-2};
}

class GpuOperator : public testing::TestWithParam<std::tuple<Operator, Precision>> {
 protected:
  const test::OperationCase& operation_case = *std::get<Operator>(GetParam());
  const Precision precision = std::get<Precision>(GetParam());

  BackendOptions options() const {
    BackendOptions result;
    result.precision = precision;
    return result;
  }
  std::vector<float> run(Backend& backend) const {
    return test::run_operation(backend, operation_case, 1, kSeed);
  }
};

TEST_P(GpuOperator, AgreesWithTheReference) {
  BackendOptions exact;
  exact.precision = precision == Precision::kFp16 ? Precision::kFp16 : Precision::kFp32;
  const auto backend = cuda::make_backend(options()), expected = reference::make_backend(exact);
  ASSERT_FALSE(backend->unsupported(operation_case.operation()).has_value());
  const job::Comparison comparison =
      job::compare(run(*backend), run(*expected), tolerance(precision));
  EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;
}

TEST_P(GpuOperator, GivesTheSameBitsAgain) {
  const auto first = cuda::make_backend(options());
  const auto values = run(*first);
  EXPECT_TRUE(job::compare(run(*first), values, {}).bitwise);
  BackendOptions same = options();
  same.algorithms = first->algorithms(operation_case.operation(), Choosing::kByTiming);
  const auto second = cuda::make_backend(same);
  EXPECT_TRUE(job::compare(run(*second), values, {}).bitwise);
  EXPECT_EQ(second->algorithms(operation_case.operation(), Choosing::kByTiming), same.algorithms);
}

std::vector<Operator> all_operators() {
  std::vector<Operator> result;
  for (const test::OperationCase& operation_case : test::operation_cases()) {
    result.push_back(&operation_case);
  }
  return result;
}

/// Returns operators of imported networks: every kind of layer, with every function and mode. No
/// relus around convolutions: the trials take their time.
std::vector<Operator> imported_operators() {
  std::vector<Operator> result;
  for (const test::OperationCase& operation_case : test::layer_operation_cases()) {
    if (operation_case.name.find("_relu") == std::string::npos) result.push_back(&operation_case);
  }
  return result;
}

std::string name_of(const testing::TestParamInfo<std::tuple<Operator, Precision>>& info) {
  return std::get<Operator>(info.param)->name + "_" +
         std::string(to_string(std::get<Precision>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(All, GpuOperator,
                         testing::Combine(testing::ValuesIn(all_operators()),
                                          testing::Values(Precision::kFp32, Precision::kTf32,
                                                          Precision::kFp16)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Imported, GpuOperator,
                         testing::Combine(testing::ValuesIn(imported_operators()),
                                          testing::Values(Precision::kFp32, Precision::kFp16)),
                         name_of);

}  // namespace
}  // namespace hios
