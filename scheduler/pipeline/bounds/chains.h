#pragma once

#include <limits>
#include <optional>

#include "scheduler/deadline.h"
#include "scheduler/pipeline/bounds/down_sets.h"
#include "scheduler/pipeline/bounds/least_costs.h"
#include "scheduler/pipeline/slicing/slice_graph.h"

namespace hios::scheduler::pipeline {

/// What is known of the cheapest way through the down-sets.
struct ChainResult {
  double bound_ms = 0;    ///< no blocks that form no cycle are cheaper
  bool finished = false;  ///< the bound is the optimum, or the period that was given
  /// Blocks that reach the bound where a block costs what LeastCosts says; nothing where it is the
  /// given period. The period is by those costs.
  std::optional<SlicedOrder> blocks;
};

/// Blocks that form no cycle are a chain of down-sets, each what the blocks up to some place hold.
/// So dynamic programming over down-sets and over how many devices of each class are used finds the
/// optimum: what costs more than a limit is not looked at, the limit grows from `at_least_ms`, a
/// lower bound, until a chain is within it. From a set all those are walked through whose
/// difference one device can run within the limit; where what is left is too much for the devices
/// that are left, none begins.
///
/// `below_ms`: the period of a known schedule; only what is below is looked for. Ends early where
/// the deadline expires, with the largest limit that was not enough. Nothing in
/// `blocks` and a bound of infinity where no blocks can run.
ChainResult cheapest_chain(const LeastCosts& costs, const DownSets& sets, double at_least_ms,
                           double below_ms = std::numeric_limits<double>::infinity(),
                           const Deadline& deadline = {});

}  // namespace hios::scheduler::pipeline
