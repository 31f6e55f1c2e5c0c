#pragma once

#include <optional>

#include "scheduler/milp/milp.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler::split {

struct WholeResult {
  double bound_ms =
      0;  ///< no schedule of one operator a stage takes less, or less than `known` does
  std::optional<Schedule> schedule;  ///< that the solver ended at
};

/// All of the graph as one program, from a schedule that is known: what no cut loses, as far as
/// time (without a limit, some nodes) lets. Nothing where the program is too large. REQUIRES:
/// `known` is valid and of one operator a stage.
WholeResult solve_whole(const CostModel& costs, const Schedule& known,
                        const milp::MilpOptions& options, const Context& context);

}  // namespace hios::scheduler::split
