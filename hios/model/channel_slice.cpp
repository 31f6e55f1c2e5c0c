#include "hios/model/channel_slice.h"

#include <vector>

namespace hios {
namespace {

/// Drops extents of one and joins dimensions that continue the next inner one. The results are
/// equal for Moves that read the same values in the same order.
std::vector<Move::Dimension> joined(const std::vector<Move::Dimension>& dimensions) {
  std::vector<Move::Dimension> result;  // innermost first
  for (auto it = dimensions.rbegin(); it != dimensions.rend(); ++it) {
    if (it->size == 1) continue;
    if (!result.empty() && it->stride == result.back().stride * result.back().size) {
      result.back().size *= it->size;
    } else {
      result.push_back(*it);
    }
  }
  return result;
}

}  // namespace

Move channel_slice(const Shape& input, std::int64_t first, std::int64_t count) {
  const std::int64_t pixels = input.h * input.w;
  return {{input.n, count, input.h, input.w},
          {{input.n, pixels * input.c}, {pixels, input.c}, {count, 1}},
          first};
}

std::optional<std::int64_t> first_sliced_channel(const Move& move, const Shape& input) {
  const Shape& output = move.output;
  if (output.n != input.n || output.h != input.h || output.w != input.w) return {};
  if (move.offset < 0 || move.offset + output.c > input.c) return {};
  const Move slice = channel_slice(input, move.offset, output.c);
  if (joined(move.dimensions) != joined(slice.dimensions)) return {};
  return move.offset;
}

std::optional<std::int64_t> first_neighbour(const Move& move) {
  const std::vector<Move::Dimension> dimensions = joined(move.dimensions);
  const bool one_run =
      dimensions.empty() || (dimensions.size() == 1 && dimensions.front().stride == 1);
  return one_run ? std::optional(move.offset) : std::nullopt;
}

}  // namespace hios
