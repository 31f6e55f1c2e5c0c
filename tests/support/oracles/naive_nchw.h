#pragma once

#include <vector>

#include "engine/backend/tensor_source.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/model.h"

/// A second, independent opinion about what layers compute, for testing the reference backend:
/// NCHW, element by element, sums scattered from inputs to outputs instead of gathered, functions
/// by the ONNX documentation's formulas.
namespace hios::test {

/// The output of `layers` (NHWC), for inputs (NHWC) one for each different tensor that they read,
/// in the order of their first use. Every layer's output is rounded to fp32.
std::vector<float> naive_nchw(const Model& model, const OperatorLayers& layers,
                              const std::vector<std::vector<float>>& inputs, TensorSource& source);

}  // namespace hios::test
