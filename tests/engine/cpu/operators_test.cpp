// Every kind of operator on the CPU backend: right (against the reference backend), and the same
// bits however it is run.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/cpu/backend.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "support/layer_operations.h"
#include "support/operations.h"

namespace hios {
namespace {

constexpr std::uint64_t kSeed = 7;

using Operator = const test::OperationCase*;

std::unique_ptr<Backend> cpu_backend(int threads) {
  return cpu::make_backend({.threads = threads, .cores = {}});
}

class CpuOperator : public testing::TestWithParam<Operator> {};

TEST_P(CpuOperator, AgreesWithTheReference) {
  const auto reference = reference::make_backend({});
  const auto expected = test::run_operation(*reference, *GetParam(), 1, kSeed);
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE(threads);
    const auto backend = cpu_backend(threads);
    const auto values = test::run_operation(*backend, *GetParam(), threads, kSeed);
    const job::Comparison comparison = job::compare(values, expected, {.atol = 1e-4, .rtol = 1e-4});
    EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;
  }
}

TEST_P(CpuOperator, GivesTheSameBitsAgain) {
  for (const int threads : {1, 2}) {
    SCOPED_TRACE(threads);
    const auto first = cpu_backend(threads), second = cpu_backend(threads);
    const auto values = test::run_operation(*first, *GetParam(), threads, kSeed);
    EXPECT_TRUE(
        job::compare(test::run_operation(*first, *GetParam(), threads, kSeed), values, {}).bitwise);
    EXPECT_TRUE(job::compare(test::run_operation(*second, *GetParam(), threads, kSeed), values, {})
                    .bitwise);
  }
}

class CpuLoops : public testing::TestWithParam<Operator> {};

TEST_P(CpuLoops, GiveTheSameBitsOnAnyNumberOfThreads) {
  const auto expected = test::run_operation(*cpu_backend(1), *GetParam(), 1, kSeed);
  for (const int threads : {2, 3, 5}) {
    SCOPED_TRACE(threads);
    const auto backend = cpu_backend(threads);
    const auto values = test::run_operation(*backend, *GetParam(), threads, kSeed);
    EXPECT_TRUE(job::compare(values, expected, {}).bitwise);
  }
}

std::vector<Operator> all_operators() {
  std::vector<Operator> result;
  for (const auto* cases : {&test::operation_cases(), &test::layer_operation_cases()}) {
    for (const test::OperationCase& operation_case : *cases) result.push_back(&operation_case);
  }
  return result;
}

/// oneDNN may sum in another order on another number of threads.
bool by_onednn(const LayerKind& kind) {
  return std::holds_alternative<Conv>(kind) || std::holds_alternative<ConvTranspose>(kind) ||
         std::holds_alternative<MatMul>(kind);
}

std::vector<Operator> operators_without_onednn() {
  std::vector<Operator> result = all_operators();
  std::erase_if(result, [](Operator op) {
    return std::ranges::any_of(op->layers.layers,
                               [op](LayerId id) { return by_onednn(op->model.layer(id).kind); });
  });
  return result;
}

std::string name_of(const testing::TestParamInfo<Operator>& info) { return info.param->name; }

INSTANTIATE_TEST_SUITE_P(All, CpuOperator, testing::ValuesIn(all_operators()), name_of);
INSTANTIATE_TEST_SUITE_P(All, CpuLoops, testing::ValuesIn(operators_without_onednn()), name_of);

}  // namespace
}  // namespace hios
