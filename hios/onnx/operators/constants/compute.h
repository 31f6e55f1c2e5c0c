#pragma once

#include "hios/model/layer_kernel.h"
#include "hios/onnx/operators/registry.h"

namespace hios::onnx {

/// Returns the constants that a node of constants makes: adds its layers to a draft of their own,
/// as they would be added for tensors, and computes them with a backend's kernels. Operators that
/// only rearrange values need no kernel. `operations`: those of the constants before, to which the
/// node's are added. REQUIRES: row.emit. Throws InputError where the result would exceed the budget
/// (fold_size), or all would take too many operations, or where there is no kernel.
Views compute_constants(const Node& node, const Operator& row, const LayerKernel& kernel,
                        double& operations);

}  // namespace hios::onnx
