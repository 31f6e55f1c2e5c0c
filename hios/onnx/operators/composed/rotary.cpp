// Part of hios/onnx/operators/families.h: RotaryEmbedding. Each pair of values of a head is turned
// by the angle of its position: (x·cos − y·sin, x·sin + y·cos). The pairs are the two halves of a
// head, or neighbours.
#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

using Turned = Binary::Function;

/// Returns a cache as (batch, positions, 1, half): by the positions' numbers if the node has them.
View angles_of(LayerEmitter& emitter, const Node& node, std::size_t input, std::int64_t half) {
  View cache = node.input(input);
  if (node.has(3)) {
    const View& at = node.input(3);
    if (cache.rank() != 2 || at.rank() != 2)
      node.fail("needs two dimensions of its caches, and of its position_ids");
    if (at.is_constant() && cache.is_constant()) {
      Constant rows;
      const std::vector<float> all = floats_of(cache);
      const auto width = cache.dims[1];
      for (const std::int64_t id : node.integers(3)) {
        const auto begin = all.begin() + node.index(id, cache.dims[0]) * width;
        rows.floats.insert(rows.floats.end(), begin, begin + width);
      }
      cache = constant_view(std::move(rows), {at.dims[0], at.dims[1], width});
    } else if (at.is_constant()) {
      node.fail("its caches must be constants where its position_ids are");
    } else {
      cache = gather_by_values(emitter, cache, at, 0);
    }
  }
  if (cache.rank() != 3 || cache.dims[2] != half)
    node.fail("its caches must have a value for each pair of a head's values");
  return insert_axis(cache, 2);
}

Views rotary_embedding(LayerEmitter& emitter, const Node& node) {
  const View& given = node.input(0);
  static constexpr std::size_t kHeadsThird[] = {0, 2, 1, 3};
  if (given.rank() != 3 && given.rank() != 4) node.fail("takes three or four dimensions");
  View x = given;
  if (given.rank() == 4) {
    x = transpose(given, kHeadsThird);
  } else {
    const std::int64_t heads = node.integer("num_heads", 0);
    if (heads < 1 || given.dims[2] % heads != 0)
      node.fail("its num_heads must divide its input's " + std::to_string(given.dims[2]) +
                " values");
    x = reshape_to(emitter, given, {given.dims[0], given.dims[1], heads, given.dims[2] / heads});
  }
  const std::int64_t width = x.dims[3], named = node.integer("rotary_embedding_dim", 0);
  const std::int64_t turned = named == 0 ? width : named, half = turned / 2;
  if (turned < 2 || turned > width || turned % 2 != 0)
    node.fail("its rotary_embedding_dim must be even, and at most the width of a head");
  const View cosine = angles_of(emitter, node, 1, half), sine = angles_of(emitter, node, 2, half);
  const bool neighbours = node.integer("interleaved", 0) != 0;
  const View first = neighbours ? slice(x, 3, 0, half, 2) : slice(x, 3, 0, half, 1),
             second = neighbours ? slice(x, 3, 1, half, 2) : slice(x, 3, half, half, 1);
  const auto times = [&](const View& a, const View& b) {
    return combine(emitter, Turned::kMul, a, b);
  };
  View real = combine(emitter, Turned::kSub, times(first, cosine), times(second, sine));
  View imaginary = combine(emitter, Turned::kAdd, times(first, sine), times(second, cosine));
  View result;
  if (neighbours) {
    const View pairs = join(emitter, {insert_axis(real, 4), insert_axis(imaginary, 4)}, 4);
    Dims dims = real.dims;
    dims[3] = turned;
    result = reshape_to(emitter, pairs, dims);
  } else {
    result = join(emitter, {real, imaginary}, 3);
  }
  if (turned < width) result = join(emitter, {result, slice(x, 3, turned, width - turned, 1)}, 3);
  if (given.rank() == 4) return {transpose(result, kHeadsThird)};
  return {reshape_to(emitter, result, given.dims)};
}

}  // namespace

void add_rotary(Operators& operators) {
  operators["RotaryEmbedding"] = {
      .emit = rotary_embedding,
      .attributes = {.read = {"interleaved", "num_heads", "rotary_embedding_dim"}}};
}

}  // namespace hios::onnx
