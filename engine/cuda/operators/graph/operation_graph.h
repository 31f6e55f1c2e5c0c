#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/operators/convolution.h"
#include "engine/cuda/operators/graph/descriptor.h"

namespace hios::cuda::graph {

/// The GPU that a graph is for: that of a handle; or, without one, a described GPU
/// (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR), for which cuDNN makes everything but runs nothing. One of
/// the two is null; the object to which the other points outlives everything made for it.
struct Target {
  cudnnHandle_t handle = nullptr;
  const Descriptor* properties = nullptr;
};

/// A convolution, with bias, addend and relu after it if the problem has them, as one graph of
/// operations that an engine computes at once. Intermediate results are never written.
class OperationGraph {
 public:
  /// The graph's names of its operands.
  enum Operand : std::int64_t { kInput = 1, kWeights, kBias, kAddend, kOutput, kFirstBetween };

  /// Builds the graph. Throws DeviceError if cuDNN has no such graph.
  OperationGraph(const ConvolutionProblem& problem, const Target& target);

  const Descriptor& descriptor() const { return graph_; }
  const Target& target() const { return target_; }
  bool has_bias() const { return has_bias_; }
  bool has_addend() const { return has_addend_; }

 private:
  Target target_;
  bool has_bias_, has_addend_;
  std::vector<Descriptor> parts_;       // tensors and settings, to which operations refer
  std::vector<Descriptor> operations_;  // in order
  Descriptor graph_;
};

}  // namespace hios::cuda::graph
