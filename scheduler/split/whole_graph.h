#pragma once

#include <optional>

#include "scheduler/milp/milp.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler::split {

struct WholeGraphResult {
  /// A lower bound of schedules of one operator a stage, at most the latency of `known`.
  double bound_ms = 0;
  std::optional<Schedule> schedule;  ///< the solver's, if it found one
};

/// Solves the whole graph as one linear program from a known schedule, so that no cut costs
/// anything, within the time limit or, without one, within some nodes. The result is empty where
/// the program is too large. REQUIRES: `known` is valid and has one operator a stage.
WholeGraphResult solve_whole_graph(const CostModel& costs, const Schedule& known,
                                   const milp::MilpOptions& options, const Context& context);

}  // namespace hios::scheduler::split
