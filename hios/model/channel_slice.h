#pragma once

#include <cstdint>
#include <optional>

#include "hios/model/layer.h"

/// Moves that take neighbours. Neighbouring channels of every pixel are one convolution's share of
/// a tensor that several convolutions produced together.
namespace hios {

/// Returns the Move of channels [first, first + count). REQUIRES: the tensor has them.
Move channel_slice(const Shape& input, std::int64_t first, std::int64_t count);

/// Returns the first channel of a Move that only takes neighbouring channels of this tensor:
/// move.output.c of them, of every pixel, in order. Empty for any other Move.
std::optional<std::int64_t> first_sliced_channel(const Move& move, const Shape& input);

/// Returns the first value of a Move that takes values as they lie in memory, one after the other.
/// Empty for any other Move.
std::optional<std::int64_t> first_neighbour(const Move& move);

}  // namespace hios
