#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/layers/operations.h"

/// The lists of layer_operation_cases(), one in each layer_cases_*.cpp.
namespace hios::test {

using Cases = std::vector<OperationCase>;

/// Adds one layer over tensors of these shapes.
inline void add_layer(Cases& cases, std::string name, const std::vector<Shape>& inputs,
                      const LayerKind& kind, InputRange range = {}) {
  const auto build = [&](ModelBuilder& b, std::span<const TensorId> x) {
    b.add("layer", kind, {x.begin(), x.end()});
  };
  cases.push_back(make_operation(std::move(name), inputs, build));
  cases.back().range = range;
}

void add_window_cases(Cases& cases);     ///< Conv, ConvTranspose, Pool
void add_value_cases(Cases& cases);      ///< Unary, Binary
void add_reduction_cases(Cases& cases);  ///< Softmax, Reduce, normalizations, MatMul
void add_resize_cases(Cases& cases);     ///< Resize
void add_gated_cases(Cases& cases);      ///< Binary and Conv, one operator
void add_arrangement_cases(
    Cases& cases);  ///< Pad, Move, Concat, Gather, TopK, and other shapes of a tensor

}  // namespace hios::test
