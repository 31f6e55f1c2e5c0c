#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "scheduler/milp/milp.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler::split {

struct SplitOptions {
  milp::MilpOptions
      solving;               ///< nodes: of each part; iterations: of the search that it starts from
  std::size_t channels = 4;  ///< tensors that may pass a cut, where one with fewer is not found
};

struct SplitResult {
  Schedule schedule;
  bool optimal = false;  ///< it is proved that no schedule is shorter
  bool timed_out = false;
  /// Of any schedule, from what was proved of parts; nothing where stages of several groups could
  /// be shorter.
  std::optional<LowerBound> bound;
};

/// The graph in parts, each solved by milp (Ghannane and Abdelfattah, "DiviML: A Module-based
/// Heuristic for Mapping Neural Networks onto Heterogeneous Platforms", section IV-B): exact where
/// all passes one operator between modules (chain.h); else, from the schedule of a short `best`,
/// part by part with the rest fixed, then the seams (windows.h), beside bounds by begun schedules
/// (close.h) and of parts (part_bounds.h). Never longer than that schedule. Parts are planned as if
/// links did not contend; what is taken is shorter with contention.
///
/// Memory and labels that couple parts: windows keep what others hold; a chain of modules counts
/// only where it is valid as a whole, and its length is a bound all the same.
///
/// The same arguments give the same result where no time ends it. Throws InputError where `best`
/// finds no placement.
SplitResult schedule_in_parts(const Graph& graph, const CostModel& costs,
                              const SplitOptions& options, const Context& context);

}  // namespace hios::scheduler::split
