#pragma once

#include <vector>

#include "scheduler/bounds/bound_table.h"

namespace hios::scheduler {

/// Whether a device's memory counts.
enum class Memory { kIgnored, kLimited };

/// A lower bound on the time in which devices can run these operators, each on any device that can
/// run it, with nothing but their work (and memory) in the way: see prices.cpp.
double priced_ms(const BoundContext& context, const std::vector<OpId>& operators, Memory memory);

}  // namespace hios::scheduler
