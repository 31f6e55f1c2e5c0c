// Every dense convolution of the built-in networks, and of ResNet-50 and MobileNetV2, has a fused
// plan of cuDNN's in each arithmetic that needs no compiler when it is made, for a GPU that is only
// described. So no network depends on candidates that cost seconds, or that a driver may refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "engine/cuda/operators/graph/described_gpu.h"
#include "engine/cuda/operators/graph/engines.h"
#include "engine/cuda/operators/operators.h"
#include "hios/model/networks/networks.h"

namespace hios {
namespace {

using cuda::ConvolutionProblem;
using cuda::TaskWindow;
using cuda::graph::Descriptor;
using cuda::graph::EngineChoice;
using cuda::graph::ExecutionPlan;
using cuda::graph::OperationGraph;

using Problems = std::map<std::string, ConvolutionProblem>;  // by key

void add(Problems& problems, const ConvolutionProblem& problem) {
  problems.emplace(problem.key(), problem);
}

Problems of_built_in(const models::Entry& network, Precision precision) {
  const Model model = network.build(1, network.default_size, network.default_size);
  Problems problems;
  for (const OperatorLayers& layers : coarsen(model).operators) {
    const auto* const chain = std::get_if<ConvolutionChain>(&layers.form);
    if (chain == nullptr) continue;
    if (const auto problem = cuda::problem_of(model, *chain, precision)) add(problems, *problem);
  }
  return problems;
}

/// Adds a convolution with a bias, padded by half its kernel.
void add(Problems& problems, Precision precision, int extent, int in, int out, int kernel,
         int stride, bool relu, bool addend = false) {
  const int out_extent = (extent + stride - 1) / stride, pad = kernel / 2;
  const TaskWindow window{1,      extent, extent, in,     out_extent, out_extent, out,
                          kernel, kernel, stride, stride, pad,        pad};
  add(problems, {window, 1, true, false, relu, precision, addend});
}

/// Those of torchvision's ResNet-50. The last convolution of a block adds the block's input, or
/// that of the one that shortens it, which has no relu.
Problems of_resnet50(Precision precision) {
  Problems problems;
  add(problems, precision, 224, 3, 64, 7, 2, true);
  int in = 64, extent = 56;
  for (const int width : {64, 128, 256, 512}) {
    const int stride = width == 64 ? 1 : 2, inner = extent / stride;
    add(problems, precision, extent, in, width, 1, 1, true);
    add(problems, precision, extent, width, width, 3, stride, true);
    add(problems, precision, extent, in, 4 * width, 1, stride, false);
    add(problems, precision, inner, width, 4 * width, 1, 1, true, /*addend=*/true);
    add(problems, precision, inner, 4 * width, width, 1, 1, true);
    add(problems, precision, inner, width, width, 3, 1, true);
    in = 4 * width;
    extent = inner;
  }
  return problems;
}

/// Those of torchvision's MobileNetV2, whose activations are clipped by passes of their own.
Problems of_mobilenet_v2(Precision precision) {
  Problems problems;
  add(problems, precision, 224, 3, 32, 3, 2, false);
  add(problems, precision, 112, 32, 16, 1, 1, false);
  struct Block {
    int extent, in, out, out_extent;
  };
  for (const Block& block :
       {Block{112, 16, 24, 56}, Block{56, 24, 24, 56}, Block{56, 24, 32, 28}, Block{28, 32, 32, 28},
        Block{28, 32, 64, 14}, Block{14, 64, 64, 14}, Block{14, 64, 96, 14}, Block{14, 96, 96, 14},
        Block{14, 96, 160, 7}, Block{7, 160, 160, 7}, Block{7, 160, 320, 7}}) {
    add(problems, precision, block.extent, block.in, 6 * block.in, 1, 1, false);
    add(problems, precision, block.out_extent, 6 * block.in, block.out, 1, 1, false);
  }
  add(problems, precision, 7, 320, 1280, 1, 1, false);
  return problems;
}

class NetworkPlans : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    try {
      properties_.emplace(test::describe_gpu());
    } catch (const RunError& error) {
      GTEST_SKIP() << "this cuDNN wants a GPU described in other words: " << error.what();
    }
  }

  /// Returns true if the engine is compiled for the graph when its plan is made.
  bool is_compiled(const OperationGraph& graph, const EngineChoice& choice) const {
    Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph.descriptor())
        .set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, choice.engine)
        .set(CUDNN_ATTR_ENGINE_DEVICEPROP, *properties_);
    engine.finalize();
    const auto notes = engine.get_all<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                                  CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
    return std::ranges::count(notes, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) > 0;
  }

  bool has_fused_plan(const ConvolutionProblem& problem) const {
    const OperationGraph graph(problem, {.properties = &*properties_});
    for (const EngineChoice& choice :
         cuda::graph::proposed_engines(graph, problem.precision, /*deterministic=*/true)) {
      if (is_compiled(graph, choice)) continue;
      try {
        const ExecutionPlan plan(graph, choice, problem.precision);
        return true;
      } catch (const RunError&) {  // proposed, then refused: the choice would skip it
      }
    }
    return false;
  }

  void expect_plans(std::string_view network, const Problems& problems) const {
    EXPECT_GE(problems.size(), 10u) << network;
    std::string without;
    for (const auto& [key, problem] : problems) {
      if (!has_fused_plan(problem)) without += "\n  " + key;
    }
    EXPECT_EQ(without, "") << network;
  }

 private:
  std::optional<Descriptor> properties_;
};

TEST_P(NetworkPlans, AreFusedAndNotCompiled) {
  for (const models::Entry& network : models::all()) {
    expect_plans(network.name, of_built_in(network, GetParam()));
  }
  expect_plans("ResNet-50", of_resnet50(GetParam()));
  expect_plans("MobileNetV2", of_mobilenet_v2(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(In, NetworkPlans,
                         testing::Values(Precision::kFp32, Precision::kTf32, Precision::kFp16),
                         [](const auto& one) { return std::string(to_string(one.param)); });

}  // namespace
}  // namespace hios
