// Every kind of operator on the CPU backend: right (against the reference backend), and the same
// bits in every way to run it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/cpu/cpu_backend.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "support/layers/layer_operations.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

using test::cpu_backend;

constexpr std::uint64_t kOperatorSeed = 7;

using CasePointer = const test::OperationCase*;

/// Returns true for layers of oneDNN, which may sum in another order on another number of threads.
bool by_onednn(const LayerKind& kind) {
  return std::holds_alternative<Conv>(kind) || std::holds_alternative<ConvTranspose>(kind) ||
         std::holds_alternative<MatMul>(kind);
}

bool has_onednn(CasePointer op) {
  return std::ranges::any_of(op->layers.layers,
                             [op](LayerId id) { return by_onednn(op->model.layer(id).kind); });
}

void expect_as_reference(CasePointer op) {
  const auto reference = reference::make_backend({});
  const auto expected = test::run_operation(*reference, *op, 1, kOperatorSeed);
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE(threads);
    const auto backend = cpu_backend(threads);
    const auto values = test::run_operation(*backend, *op, threads, kOperatorSeed);
    const job::Comparison comparison = job::compare(values, expected, {.atol = 1e-4, .rtol = 1e-4});
    EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;
  }
}

void expect_same_bits_again(CasePointer op) {
  for (const int threads : {1, 2}) {
    SCOPED_TRACE(threads);
    const auto first = cpu_backend(threads), second = cpu_backend(threads);
    const auto values = test::run_operation(*first, *op, threads, kOperatorSeed);
    EXPECT_TRUE(
        job::compare(test::run_operation(*first, *op, threads, kOperatorSeed), values, {}).bitwise);
    EXPECT_TRUE(job::compare(test::run_operation(*second, *op, threads, kOperatorSeed), values, {})
                    .bitwise);
  }
}

void expect_same_bits_on_any_threads(CasePointer op) {
  if (has_onednn(op)) return;
  const auto expected = test::run_operation(*cpu_backend(1), *op, 1, kOperatorSeed);
  for (const int threads : {2, 3, 5}) {
    SCOPED_TRACE(threads);
    const auto backend = cpu_backend(threads);
    const auto values = test::run_operation(*backend, *op, threads, kOperatorSeed);
    EXPECT_TRUE(job::compare(values, expected, {}).bitwise);
  }
}

/// The cases whose names begin alike are one test; each case alone would cost a process of its own.
using CaseGroup = std::pair<std::string, std::vector<CasePointer>>;

std::vector<CaseGroup> groups() {
  std::map<std::string, std::vector<CasePointer>> by_name;
  for (const auto* cases : {&test::operation_cases(), &test::layer_operation_cases()}) {
    for (const test::OperationCase& each : *cases) {
      by_name[each.name.substr(0, each.name.find('_'))].push_back(&each);
    }
  }
  return {by_name.begin(), by_name.end()};
}

class CpuOperators : public testing::TestWithParam<CaseGroup> {
 protected:
  static void each(void (*expect)(CasePointer)) {
    for (const CasePointer op : GetParam().second) {
      SCOPED_TRACE(op->name);
      expect(op);
    }
  }
};

TEST_P(CpuOperators, AgreeWithTheReference) { each(expect_as_reference); }
TEST_P(CpuOperators, GiveTheSameBitsAgain) { each(expect_same_bits_again); }
TEST_P(CpuOperators, GiveTheSameBitsOnAnyNumberOfThreads) { each(expect_same_bits_on_any_threads); }

INSTANTIATE_TEST_SUITE_P(All, CpuOperators, testing::ValuesIn(groups()),
                         [](const auto& given) { return given.param.first; });

}  // namespace
}  // namespace hios
