#pragma once

#include <vector>

#include "support/layers/operations.h"

namespace hios::test {

/// Returns the layer kinds of ONNX files, each alone over odd shapes: every function and mode,
/// broadcast in each axis, dilated and unevenly padded windows, some with a batch of two, and
/// layers that read a tensor in another shape than its producer's; and convolutions of images that
/// a gate scales. Each has few elements; every variant is a case.
const std::vector<OperationCase>& layer_operation_cases();

}  // namespace hios::test
