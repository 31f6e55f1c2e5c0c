// Convolutions as cuDNN's graphs, up to the plan: cuDNN makes it for a GPU that is only described,
// so none is needed. Results need a GPU (kernels/gpu_kernels_test.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "engine/cuda/operators/graph/described_gpu.h"
#include "engine/cuda/operators/graph/engines.h"
#include "support/expect_error.h"

namespace hios {
namespace {

using cuda::ConvolutionProblem;
using cuda::TaskWindow;
using cuda::graph::choice_named;
using cuda::graph::Descriptor;
using cuda::graph::EngineChoice;
using cuda::graph::ExecutionPlan;
using cuda::graph::OperationGraph;
using cuda::graph::proposed_engines;

class Graphs : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    try {
      properties_.emplace(test::describe_gpu());
    } catch (const RunError& error) {
      GTEST_SKIP() << "this cuDNN wants a GPU described in other words: " << error.what();
    }
  }
  OperationGraph graph(const ConvolutionProblem& problem) const {
    return OperationGraph(problem, {.properties = &*properties_});
  }
  ConvolutionProblem problem(const TaskWindow& window, int groups = 1, bool bias = true,
                             bool relu = true) const {
    return {window, groups, bias, false, relu, GetParam()};
  }

 private:
  std::optional<Descriptor> properties_;
};

constexpr TaskWindow kPlain{1, 35, 35, 192, 35, 35, 64, 3, 3, 1, 1, 1, 1};

TEST_P(Graphs, HavePlansForEveryKindOfWindow) {
  TaskWindow strided = kPlain, unpadded = kPlain, spread = kPlain, odd = kPlain;
  strided.stride_h = strided.stride_w = 2;
  strided.out_height = strided.out_width = 18;
  unpadded = strided;
  unpadded.pad_h = unpadded.pad_w = 0;
  spread.dilation_h = spread.dilation_w = 2;
  spread.pad_h = spread.pad_w = 2;
  odd.channels = 3;
  const TaskWindow pointwise{2, 17, 17, 768, 17, 17, 192};
  ConvolutionProblem added = problem(pointwise), added_alone = problem(kPlain, 1, true, false);
  added.addend = added_alone.addend = true;
  // A relu without a bias: only engines compiled by a driver support that.
  for (const ConvolutionProblem& one :
       {problem(kPlain), problem(kPlain, 1, false, false), problem(kPlain, 1, true, false),
        problem(kPlain, 4), problem(strided), problem(unpadded), problem(spread), problem(odd),
        problem(pointwise), added, added_alone}) {
    SCOPED_TRACE(one.key());
    const OperationGraph described = graph(one);
    const auto choices = proposed_engines(described, GetParam(), /*deterministic=*/true);
    EXPECT_FALSE(choices.empty());
    std::size_t made = 0;
    for (const EngineChoice& choice : choices) {
      // By its name, as on another rank, for a graph of its own.
      const OperationGraph again = graph(one);
      try {
        const ExecutionPlan plan(again, choice_named(choice.name()), GetParam());
        EXPECT_GE(plan.workspace_bytes(), 0);
        ++made;
      } catch (const RunError&) {  // proposed, then refused: the choice would skip it
      }
    }
    EXPECT_GT(made, 0u);
  }
}

TEST_P(Graphs, RefuseAnEngineThatIsNotThere) {
  const OperationGraph described = graph(problem(kPlain));
  test::expect_error<RunError>(
      [&] {
        ExecutionPlan(described, {1'000'000, {}}, GetParam());
      },
      {"cuDNN"});
}

TEST_P(Graphs, DescribeTheirOperandsBeforeTheyRun) {
  const OperationGraph described = graph(problem(kPlain));
  const auto choices = proposed_engines(described, GetParam(), true);
  ASSERT_FALSE(choices.empty());
  ExecutionPlan plan(described, choices.front(), GetParam());
  std::byte memory[64];
  // No GPU runs it, and only that step fails.
  test::expect_error<RunError>(
      [&] {
        plan.queue({memory, memory + 16, memory + 32, memory + 48}, nullptr, "a test");
      },
      {"a test", "cudnnBackendExecute"});
}

std::string name_of(const testing::TestParamInfo<Precision>& info) {
  return std::string(to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(In, Graphs,
                         testing::Values(Precision::kFp32, Precision::kTf32, Precision::kFp16),
                         name_of);

using Fp32Graphs = Graphs;

TEST_P(Fp32Graphs, LeaveTensorCoresAlone) {
  const OperationGraph described = graph(problem(kPlain));
  const auto exact = proposed_engines(described, Precision::kFp32, true);
  std::size_t rounding = 0;
  for (const EngineChoice& choice : proposed_engines(described, Precision::kTf32, true)) {
    if (std::find(exact.begin(), exact.end(), choice) != exact.end()) continue;
    try {
      ExecutionPlan(described, choice, Precision::kFp32);
    } catch (const RunError& error) {
      rounding += std::string(error.what()).find("fp32") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(rounding, 0u) << "no engine that rounds to tf32 was proposed, or fp32 took it";
}

INSTANTIATE_TEST_SUITE_P(In, Fp32Graphs, testing::Values(Precision::kFp32), name_of);

}  // namespace
}  // namespace hios
