#pragma once

#include <vector>

#include "engine/backend/tensor_source.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/model.h"

/// An independent implementation of layers, for testing the reference backend: NCHW, element by
/// element, sums scattered from inputs to outputs instead of gathered, functions by the ONNX
/// documentation's formulas.
namespace hios::test {

/// Returns the output of `layers` (NHWC). `inputs` (NHWC) has one entry for each different tensor
/// that they read, in the order of their first use. Every layer's output is rounded to fp32.
std::vector<float> naive_nchw(const Model& model, const OperatorLayers& layers,
                              const std::vector<std::vector<float>>& inputs, TensorSource& source);

}  // namespace hios::test
