#pragma once

#include <limits>

#include "scheduler/deadline.h"
#include "scheduler/pipeline/bounds/chains.h"

namespace hios::scheduler::pipeline {

/// The most down-sets for this bound.
inline constexpr std::size_t kMaxDownSets = 100'000;

/// The result of cheapest_chain() where the graph has few down-sets; else the given bound.
struct DownSetBound {
  ChainResult chain;
  bool few = false;  ///< the down-sets were counted and are few
};
DownSetBound down_set_bound(const LeastCosts& costs, double at_least_ms,
                            double below_ms = std::numeric_limits<double>::infinity(),
                            const Deadline& deadline = {});

}  // namespace hios::scheduler::pipeline
