#pragma once

#include <cstddef>
#include <vector>

#include "hios/onnx/operators/registry.h"

/// The families of operators that add layers. Each function adds its rows to the table; its source
/// is named after it (convolutions.cpp, joins.cpp, moves.cpp, normalizations.cpp, pools.cpp and
/// resizes.cpp). Elementwise operators have a header of their own (elementwise.h).
namespace hios::onnx {

/// Adds Conv, ConvTranspose, and operators that become one: Gemm, MatMul, BatchNormalization.
void add_convolutions(Operators& operators);
/// Adds MaxPool, AveragePool and the global pools.
void add_pools(Operators& operators);
/// Adds InstanceNormalization, GroupNormalization, LayerNormalization, LRN, Softmax, LogSoftmax.
void add_normalizations(Operators& operators);
/// Adds ReduceMean, ReduceSum, … (normalizations.cpp).
void add_reductions(Operators& operators);
/// Returns which axes of its first input, of this rank, a reduction reduces (normalizations.cpp).
std::vector<bool> reduced_axes(const Node& node, std::size_t rank);
/// Operators that rearrange values: Transpose, Reshape, Slice, Gather, …
void add_moves(Operators& operators);
/// Adds Concat and Pad.
void add_joins(Operators& operators);
/// Adds Resize, and Upsample of old opsets.
void add_resizes(Operators& operators);

}  // namespace hios::onnx
