#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hios/onnx/operators/registry.h"

/// The families of operators that add layers. Each function adds its rows to the table; its source
/// is named after it (convolutions.cpp, gathers.cpp, joins.cpp, …). Elementwise operators have a
/// header of their own (elementwise.h).
namespace hios::onnx {

/// Adds Conv, ConvTranspose, and BatchNormalization, which becomes one.
void add_convolutions(Operators& operators);
/// Adds Gemm and MatMul.
void add_products(Operators& operators);
/// Adds x·Wᵀ + bias over the last axis of x, for constants W of (columns, inner) (products.cpp).
View multiply_rows(LayerEmitter& emitter, const View& x, const View& weights,
                   std::vector<float> bias);
/// Adds a product over the last two axes; the axes before broadcast (products.cpp). One of the
/// operands may be a constant.
View matrix_product(LayerEmitter& emitter, const View& a, const View& b);
/// Adds Attention (composed/attention.cpp).
void add_attention(Operators& operators);
/// Adds RotaryEmbedding (composed/rotary.cpp).
void add_rotary(Operators& operators);
/// Adds Einsum (composed/einsum.cpp).
void add_einsum(Operators& operators);
/// Adds ArgMax, ArgMin and TopK (composed/searches.cpp).
void add_searches(Operators& operators);
/// Adds the layer along an axis, which keeps as many values as it finds (composed/searches.cpp).
View top_along(LayerEmitter& emitter, const View& x, std::size_t axis, const TopK& top);
/// Adds LSTM and GRU (composed/recurrent.cpp).
void add_recurrent(Operators& operators);
/// Adds comparisons, functions of truth values, Where and Cast (composed/choices.cpp).
void add_choices(Operators& operators);
/// Adds MaxPool, AveragePool and the global pools.
void add_pools(Operators& operators);
/// Adds InstanceNormalization, GroupNormalization, LayerNormalization, LRN, Softmax, LogSoftmax.
void add_normalizations(Operators& operators);
/// Adds ReduceMean, ReduceSum, … (normalizations.cpp).
void add_reductions(Operators& operators);
/// Adds a reduction along axes, which keep extent 1 (normalizations.cpp).
View reduce_along(LayerEmitter& emitter, const View& x, Reduce::Function function,
                  const std::vector<bool>& axes);
/// Adds a sum along axes, which are removed (normalizations.cpp).
View sum_along(LayerEmitter& emitter, const View& x, const std::vector<bool>& axes);
/// Returns which axes of its first input, of this rank, a reduction reduces (normalizations.cpp).
std::vector<bool> reduced_axes(const Node& node, std::size_t rank);
/// Operators that rearrange values: Transpose, Reshape, Slice, Split, …
void add_moves(Operators& operators);
/// Returns the values, row-major, under other dims (moves.cpp). Adds a Move if no view can do that.
View reshape_to(LayerEmitter& emitter, const View& x, const Dims& dims);
/// Adds Gather, GatherND and GatherElements, ScatterND and ScatterElements.
void add_gathers(Operators& operators);
/// Returns the elements at computed indices along an axis, which the indices' axes replace
/// (composed/lookups.cpp).
View gather_by_values(LayerEmitter& emitter, const View& x, const View& indices, std::size_t axis);
/// Returns one element for each computed index, along an axis (composed/lookups.cpp).
View gather_elements_by_values(LayerEmitter& emitter, const View& x, const View& indices,
                               std::size_t axis);
/// Returns the view with an axis moved to the end, or with `back` from there
/// (composed/lookups.cpp).
View with_last(const View& x, std::size_t axis, bool back);
/// Adds GridSample (composed/grid_samples.cpp).
void add_grid_samples(Operators& operators);
/// Adds CumSum (composed/lookups.cpp).
void add_lookups(Operators& operators);
/// Adds Concat and Pad.
void add_joins(Operators& operators);
/// Joins tensors along an axis (joins.cpp).
View join(LayerEmitter& emitter, const std::vector<View>& views, std::size_t axis);
/// Joins tensors and constants, at least one of which is a tensor (joins.cpp). All have elements.
View join_with_constants(LayerEmitter& emitter, const std::vector<View>& all, std::size_t axis);
/// Adds values before and after an axis (joins.cpp). Returns the view where there are none.
View padded_along(LayerEmitter& emitter, const View& x, std::size_t axis, std::int64_t before,
                  std::int64_t after, float value);
/// Adds Resize, and Upsample of old opsets.
void add_resizes(Operators& operators);

}  // namespace hios::onnx
