#pragma once

#include <cstdint>
#include <vector>

#include "hios/graph/cuts/cuts.h"
#include "hios/model/tensor.h"

namespace hios {

/// The unit of Cut::parts along the channels: what libraries compute together.
inline constexpr std::int64_t kChannelBlock = 16;

/// Returns the rows or channels that each shard of an operator computes, in order; with an overlap
/// they have rows in common. Throws InputError that names the operator: a shard would be empty,
/// begin outside the output or before the one before it, or channels would overlap.
std::vector<AxisRange> shard_ranges(const Cut& cut, const Shape& output);

}  // namespace hios
