#pragma once

#include <cstddef>
#include <span>

#include "scheduler/split/modules/prove.h"

namespace hios::scheduler::split {

/// Operators of a part, one try after the other.
inline constexpr std::size_t kPartSizes[] = {14, 22, 32, 44, 60};

/// A latency that no schedule of one operator a stage can beat, added up from what is proved of
/// parts that come one after the other (after Ghannane and Abdelfattah, "DiviML", section IV-B2;
/// the proof is in part_bounds.cpp). Cuts where at most `channels` tensors pass, if it can; parts
/// of each size, until time is up or one is all. 0 where nothing is known.
double part_bound_ms(const CostModel& costs, std::size_t channels, Prover& prover,
                     std::span<const std::size_t> sizes = kPartSizes);

}  // namespace hios::scheduler::split
