// Family kGraphConvolutions of engine/cuda/operators/convolution.h: cuDNN's graphs of operations as
// "graph ENGINE KNOB=VALUE,…", all numbers (engine_choice.h). Convolution, bias and relu are one
// graph, which one engine computes at once. Other candidates compute the convolution as a graph
// alone, and bias and relu cost one pass of ours ("… plain"). Where there is an addend, a third
// kind has it in the graph, too ("… added"): it saves a pass over two tensors. Any function but a
// relu is a pass of ours.
//
// Compared with the legacy calls (engine/cuda/operators/convolution_cudnn.cpp) it adds: engines
// that these never name, some of them compiled for the graph; bias and relu fused in more engines;
// sides with different padding. A library may store a plan as a text of its own, but that is bound
// to one build and GPU. An engine's index and its settings name the same arithmetic on every rank
// with the same library, and each rank makes the plan from them.
#include "engine/cuda/operators/convolution.h"
#include "engine/cuda/operators/graph/engines.h"
#include "hios/base/size_text.h"

namespace hios::cuda {
namespace {

/// A larger workspace would be out of proportion for one operator.
constexpr std::int64_t kMaxWorkspaceBytes = std::int64_t{512} << 20;

/// Returns the part of a problem that the graph computes.
ConvolutionProblem part_of(ConvolutionProblem problem, bool fused) {
  if (!fused) problem.bias = problem.relu_after = false;
  return problem;
}

/// Returns EngineChoice::fused. Throws RunError if the choice is for a problem with another addend.
bool fused_like(const graph::EngineChoice& choice, const ConvolutionProblem& problem) {
  if (choice.added != problem.addend) refuse_name(choice.name());
  return choice.fused;
}

class GraphConvolution final : public ConvolutionAlgorithm {
 public:
  GraphConvolution(const ConvolutionProblem& problem, const ConvolutionTools& tools,
                   const graph::EngineChoice& choice)
      : problem_(problem),
        fused_(fused_like(choice, problem)),
        relu_first_(problem),
        stream_(tools.stream.stream()),
        graph_(part_of(problem, choice.fused), {.handle = tools.stream.cudnn()}),
        plan_(graph_, choice, problem.precision) {
    if (plan_.workspace_bytes() > kMaxWorkspaceBytes) {
      throw RunError(choice.name() + " wants " +
                     size_text(static_cast<Bytes>(plan_.workspace_bytes())) + " of workspace");
    }
  }

  Bytes workspace_bytes() const override {
    return relu_first_.workspace_bytes() + static_cast<Bytes>(plan_.workspace_bytes());
  }

  void queue(const ConvolutionOperands& operands, std::byte* workspace,
             std::string_view doing) override {
    const void* input = relu_first_.queue(operands.input, workspace, stream_, doing);
    plan_.queue({input, operands.weights, operands.bias, operands.output, operands.addend},
                workspace + relu_first_.workspace_bytes(), doing);
    if (!fused_) queue_bias_and_relu(problem_, operands, stream_, doing);
  }

 private:
  ConvolutionProblem problem_;
  bool fused_;
  ReluFirst relu_first_;
  cudaStream_t stream_;
  graph::OperationGraph graph_;
  graph::ExecutionPlan plan_;
};

std::vector<ComputedPart> parts(const ConvolutionProblem& problem) {
  std::vector<ComputedPart> result = {{problem.before_addend()}};
  if (problem.addend) result.push_back({problem.before_activation(), " added"});
  return result;
}

std::vector<std::string> candidates(const ConvolutionProblem& problem,
                                    const ConvolutionTools& tools, bool deterministic) {
  std::vector<std::string> names;
  std::string failure;
  for (const bool fused : {true, false}) {
    if (!fused && (problem.addend || (!problem.bias && !problem.relu_after))) break;
    try {
      const graph::OperationGraph described(part_of(problem, fused),
                                            {.handle = tools.stream.cudnn()});
      for (graph::EngineChoice& choice :
           graph::proposed_engines(described, problem.precision, deterministic)) {
        choice.fused = fused;
        choice.added = problem.addend;
        names.push_back(choice.name());
      }
    } catch (const RunError& error) {
      failure = error.what();  // cuDNN has no such graph
    }
  }
  if (names.empty() && !failure.empty()) throw RunError(failure);
  return names;
}

std::unique_ptr<ConvolutionAlgorithm> make(const std::string& name,
                                           const ConvolutionProblem& problem,
                                           const ConvolutionTools& tools) {
  return std::make_unique<GraphConvolution>(problem, tools, graph::choice_named(name));
}

}  // namespace

const ConvolutionFamily kGraphConvolutions{"graph", parts, candidates, make};

}  // namespace hios::cuda
