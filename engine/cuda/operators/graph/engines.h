#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/cuda/operators/graph/descriptor.h"
#include "engine/cuda/operators/graph/engine_choice.h"
#include "engine/cuda/operators/graph/operation_graph.h"

namespace hios::cuda::graph {

/// Returns the engines and settings that cuDNN proposes for a graph, best first, each once. Only
/// those with the arithmetic of `precision` and, if wanted, the same bits from run to run. Empty if
/// cuDNN fails.
std::vector<EngineChoice> proposed_engines(const OperationGraph& graph, Precision precision,
                                           bool deterministic);

/// A graph with the engine that computes it, ready to be queued on the stream of the target's
/// handle. The graph outlives it.
class ExecutionPlan {
 public:
  /// Makes the plan. Throws RunError if there is no such engine or setting here, or its arithmetic
  /// is not that of `precision`. May compile a kernel.
  ExecutionPlan(const OperationGraph& graph, const EngineChoice& choice, Precision precision);

  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Queues the plan. Operands that stay the same from call to call are described once. REQUIRES: a
  /// handle.
  void queue(const ConvolutionOperands& operands, std::byte* workspace, std::string_view doing);

 private:
  /// Input, weights, output, workspace, bias, addend.
  using Pointers = std::array<void*, 6>;
  Descriptor describe(const Pointers& pointers) const;

  cudnnHandle_t handle_;
  bool has_bias_, has_addend_;
  Descriptor engine_;
  std::vector<Descriptor> knobs_;
  Descriptor configuration_, plan_;
  std::int64_t workspace_bytes_ = 0;
  Pointers described_{};  // from operands_
  std::optional<Descriptor> operands_;
};

}  // namespace hios::cuda::graph
