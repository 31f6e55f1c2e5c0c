#pragma once

#include <vector>

#include "engine/cuda/operators/convolution.h"
#include "engine/cuda/operators/graph/descriptor.h"

namespace hios::cuda::graph {

/// The GPU that a graph is for: that of a handle; or, without one, a GPU that is only described
/// (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR), for which cuDNN makes all but runs nothing. One of the
/// two is null; what the other is must outlive all that is made for it.
struct Target {
  cudnnHandle_t handle = nullptr;
  const Descriptor* properties = nullptr;
};

/// A convolution, bias and relu behind it where the problem has them, as one graph of operations:
/// what an engine is asked to compute in one go. What is between them is never written.
class OperationGraph {
 public:
  /// How the graph calls its operands.
  enum Operand : std::int64_t { kInput = 1, kWeights, kBias, kOutput, kFirstBetween };

  /// Throws DeviceError where cuDNN has no such graph.
  OperationGraph(const ConvolutionProblem& problem, const Target& target);

  const Descriptor& descriptor() const { return graph_; }
  const Target& target() const { return target_; }
  bool has_bias() const { return has_bias_; }

 private:
  Target target_;
  bool has_bias_;
  std::vector<Descriptor> parts_;       // tensors and settings, which operations refer to
  std::vector<Descriptor> operations_;  // in order
  Descriptor graph_;
};

}  // namespace hios::cuda::graph
