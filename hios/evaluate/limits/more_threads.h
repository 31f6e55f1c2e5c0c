#pragma once

#include <optional>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"

namespace hios {

/// One rank with more threads, which runs all operators one after the other.
struct OneRankOfThreads {
  int threads = 1;
  double sequential_ms = 0;  ///< predicted: the sum of the operators' measured times
};

/// Returns the shortest of the predicted latencies of one rank that has more threads than each
/// device, and no more than all devices together, and that the profile measured for every operator.
/// Empty where there is none, or where devices differ or have no threads (GPUs).
std::optional<OneRankOfThreads> more_threads(const Graph& graph, const Platform& platform,
                                             const Profile& profile);

}  // namespace hios
