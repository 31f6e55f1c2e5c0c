#pragma once

#include <limits>

#include "scheduler/deadline.h"
#include "scheduler/pipeline/bounds/chains.h"

namespace hios::scheduler::pipeline {

/// Graphs with more down-sets are left to other bounds.
inline constexpr std::size_t kMostDownSets = 100'000;

/// cheapest_chain() where the graph has few down-sets; else the bound that was given.
struct DownSetBound {
  ChainResult chain;
  bool few = false;  ///< they were counted, and are not more than that
};
DownSetBound down_set_bound(const LeastCosts& costs, double at_least_ms,
                            double below_ms = std::numeric_limits<double>::infinity(),
                            const Deadline& deadline = {});

}  // namespace hios::scheduler::pipeline
