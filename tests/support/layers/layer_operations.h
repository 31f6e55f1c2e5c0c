#pragma once

#include <vector>

#include "support/layers/operations.h"

namespace hios::test {

/// The layer kinds that ONNX files bring, each by itself over odd shapes: every function and mode,
/// broadcast in each axis, dilated and unevenly padded windows, some with a batch of two, and
/// layers that read a tensor in another shape than it was made. Few elements each; as many cases as
/// there are ways.
const std::vector<OperationCase>& layer_operation_cases();

}  // namespace hios::test
