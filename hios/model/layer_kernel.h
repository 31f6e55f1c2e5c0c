#pragma once

#include <functional>
#include <span>
#include <vector>

#include "hios/model/layer.h"
#include "hios/model/weights/model_weights.h"

/// The door by which a backend's kernels compute values while a file is read.
namespace hios {

/// A dense NHWC tensor in host memory.
struct LayerOperand {
  std::span<const float> values;
  Shape shape;
};

/// Returns the output of one layer. REQUIRES: the kind accepts the operands (infer_shape), and has
/// these parameters.
using LayerKernel = std::function<std::vector<float>(
    const LayerKind& kind, std::span<const LayerOperand> inputs, const ModelWeights::Values&)>;

}  // namespace hios
