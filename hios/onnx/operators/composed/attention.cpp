// Part of hios/onnx/operators/families.h: Attention, as products of matrices and a Softmax:
// softmax(scale·Q·Kᵀ + mask)·V for each head.
#include <cmath>
#include <limits>

#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

using Combined = Binary::Function;

/// Returns an input as (batch, heads, positions, values of a head).
View heads_of(LayerEmitter& emitter, const Node& node, std::size_t input, const char* count) {
  const View& x = node.input(input);
  if (x.rank() == 4) return x;
  const std::int64_t heads = node.integer(count, 0);
  if (x.rank() != 3) node.fail("takes three or four dimensions");
  if (heads < 1 || x.dims[2] % heads != 0) {
    node.fail("its " + std::string(count) + " must divide its input's " +
              std::to_string(x.dims[2]) + " values");
  }
  static constexpr std::size_t kHeadsFirst[] = {0, 2, 1, 3};
  return transpose(reshape_to(emitter, x, {x.dims[0], x.dims[1], heads, x.dims[2] / heads}),
                   kHeadsFirst);
}

/// Repeats each head, so that several heads of Q share it.
View shared_by(LayerEmitter& emitter, const Node& node, const View& x, std::int64_t heads) {
  if (x.dims[1] == heads) return x;
  if (x.dims[1] < 1 || heads % x.dims[1] != 0)
    node.fail("its heads of K and V must divide those of Q");
  View wide = insert_axis(x, 2);
  Dims dims = wide.dims;
  dims[2] = heads / x.dims[1];
  wide = expand(wide, dims);
  return reshape_to(emitter, wide, {x.dims[0], heads, x.dims[2], x.dims[3]});
}

/// Half the lowest number: no score that is added to it counts, and none overflows.
constexpr float kMasked = std::numeric_limits<float>::lowest() / 2;

/// Adds the mask: numbers that are added, or truth values where false leaves a position out.
View masked(LayerEmitter& emitter, const Node& node, const View& scores) {
  View mask = node.input(3);
  if (mask.is_constant() && !is_real(mask)) {
    mask = each_value(
        node, {mask}, ConstantType::kFloat, [](auto v) { return v[0] != 0 ? 0.0 : kMasked; },
        nullptr);
  } else if (mask.type() == Constant::Type::kBool) {
    // Truth values that are computed are 1 and 0.
    mask = combine(emitter, Combined::kAdd, mask, number_view(-1));
    mask = combine(emitter, Combined::kMul, mask, number_view(-kMasked));
  }
  return combine(emitter, Combined::kAdd, scores, mask);
}

/// Leaves out the positions of K after that of Q.
View causal(LayerEmitter& emitter, const View& scores) {
  const std::int64_t rows = scores.dims[2], columns = scores.dims[3];
  Constant mask;
  const std::int64_t size = fold_size({rows, columns}, 0);
  for (std::int64_t i = 0; i < size; ++i) {
    mask.floats.push_back(i % columns > i / columns ? kMasked : 0.0f);
  }
  return combine(emitter, Combined::kAdd, scores, constant_view(std::move(mask), {rows, columns}));
}

Views attention(LayerEmitter& emitter, const Node& node) {
  for (std::size_t input = 4; input < node.input_count(); ++input) {
    if (node.has(input)) node.fail("has past keys and values, which are not read");
  }
  if (node.number("softcap", 0) != 0) node.fail("its softcap is not computed");
  const View q = heads_of(emitter, node, 0, "q_num_heads");
  const std::int64_t heads = q.dims[1], width = q.dims[3];
  const View k = shared_by(emitter, node, heads_of(emitter, node, 1, "kv_num_heads"), heads),
             v = shared_by(emitter, node, heads_of(emitter, node, 2, "kv_num_heads"), heads);
  const double usual = 1 / std::sqrt(static_cast<double>(width));
  const float scale = node.number("scale", static_cast<float>(usual));
  static constexpr std::size_t kTransposed[] = {0, 1, 3, 2};
  View scores = matrix_product(emitter, q, transpose(k, kTransposed));
  scores = combine(emitter, Combined::kMul, scores, number_view(scale));
  if (node.has(3)) scores = masked(emitter, node, scores);
  if (node.integer("is_causal", 0) != 0) scores = causal(emitter, scores);
  const std::vector<std::size_t> order = own_axes(4);
  const LayerInput rows = emitter.input(scores, order);
  const View shares = emitter.emit(Softmax{.axes = {.c = true}}, {rows}, scores.dims, order);
  const View result = matrix_product(emitter, shares, v);
  if (node.input(0).rank() == 4) return {result};
  static constexpr std::size_t kPositionsFirst[] = {0, 2, 1, 3};
  return {reshape_to(emitter, transpose(result, kPositionsFirst),
                     {q.dims[0], q.dims[2], heads * v.dims[3]})};
}

}  // namespace

void add_attention(Operators& operators) {
  operators["Attention"] = {
      .emit = attention,
      .attributes = {.read = {"is_causal", "kv_num_heads", "q_num_heads", "scale", "softcap"},
                     .unread = {{"qk_matmul_output_mode"}, {"softmax_precision"}}}};
}

}  // namespace hios::onnx
