#pragma once

#include <limits>
#include <optional>

#include "scheduler/deadline.h"
#include "scheduler/pipeline/bounds/down_sets.h"
#include "scheduler/pipeline/bounds/least_costs.h"
#include "scheduler/pipeline/slicing/slice_graph.h"

namespace hios::scheduler::pipeline {

/// The result of the search for the cheapest chain of down-sets.
struct ChainResult {
  double bound_ms = 0;    ///< a lower bound for blocks that form no cycle
  bool finished = false;  ///< the bound is the optimum, or the given period
  /// Blocks that reach the bound at the costs of LeastCosts, and their period by those costs;
  /// absent where the bound is the given period.
  std::optional<SlicedOrder> blocks;
};

/// Finds the cheapest blocks that form no cycle. They are a chain of down-sets, each the union of
/// the first blocks. So dynamic programming over down-sets, and over the number of used devices of
/// each class, finds the optimum. Blocks above a limit are pruned; the limit grows from
/// `at_least_ms`, a lower bound, until a chain is within it. From each set, all supersets are
/// visited whose difference one device can run within the limit. Sets are pruned whose remaining
/// work is too much for the remaining devices.
///
/// `below_ms`: the period of a known schedule; only shorter ones are searched. Ends early when the
/// deadline expires, with the largest limit that did not suffice. If no blocks can run, `blocks` is
/// empty and the bound is infinite.
ChainResult cheapest_chain(const LeastCosts& costs, const DownSets& sets, double at_least_ms,
                           double below_ms = std::numeric_limits<double>::infinity(),
                           const Deadline& deadline = {});

}  // namespace hios::scheduler::pipeline
