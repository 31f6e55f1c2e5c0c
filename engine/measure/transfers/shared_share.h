#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/measure/profiler_context.h"
#include "engine/run/plan/plan.h"

namespace hios {

/// The share of the times of shared_times() that operators lose: those are for a loop that does
/// nothing but write and read.
struct SharedShare {
  double share = 1;          ///< 0 to 1
  std::int64_t samples = 0;  ///< 0: the memory could not be opened
};

/// Returns the plan by which the first two ranks that share memory run the network, each every
/// other operator. REQUIRES: two such ranks.
RankPlan plan_of_two(const CoarseGraph& coarse, std::span<const std::size_t> sharers, Rank rank);

/// Runs the network by plan_of_two(), and before it on each of the two ranks alone, one after the
/// other. The share is the time by which operators take longer in shared memory, the sum of both
/// ranks' medians over a few runs, over the time by which shared_times() says so for the same
/// tensors. It stands for all pairs of ranks. `sharers`: of Profiler::measure_transfers. Where the
/// memory cannot be opened, a warning says so, and the share is 1. Collective; empty where
/// `protocol.stop` ended it. REQUIRES: two ranks that share memory, whose curves are known and not
/// scaled yet.
std::optional<SharedShare> measure_shared_share(const ProfilerContext& context,
                                                std::span<Configuration* const> into,
                                                std::span<const std::size_t> sharers);

}  // namespace hios
