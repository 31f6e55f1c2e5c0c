#pragma once

#include <cstdint>
#include <optional>

#include "hios/model/layer.h"

/// Some neighbouring channels of every pixel, as a Move: what is left to read of a tensor that
/// several convolutions made together.
namespace hios {

/// Channels [first, first + count). REQUIRES: the tensor has them.
Move channel_slice(const Shape& input, std::int64_t first, std::int64_t count);

/// The first of the channels that a Move takes of this tensor, where that is all that it does:
/// move.output.c of them, of every pixel, in order. Empty: it does something else.
std::optional<std::int64_t> first_sliced_channel(const Move& move, const Shape& input);

}  // namespace hios
