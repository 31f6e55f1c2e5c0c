#pragma once

#include <cstddef>
#include <span>

#include "scheduler/split/modules/prove.h"

namespace hios::scheduler::split {

/// Sizes of modules in operators, tried one after the other.
inline constexpr std::size_t kModuleSizes[] = {14, 22, 32, 44, 60};

/// Returns a lower bound of schedules of one operator a stage, added up from proofs of consecutive
/// modules (after Ghannane and Abdelfattah, "DiviML", section IV-B2; the proof is in
/// module_bounds.cpp). Cuts where at most `channels` tensors cross, if possible. Tries each size
/// until the deadline expires or one module is the whole graph. 0 where no bound is found.
double module_bound_ms(const CostModel& costs, std::size_t channels, Prover& prover,
                       std::span<const std::size_t> sizes = kModuleSizes);

}  // namespace hios::scheduler::split
