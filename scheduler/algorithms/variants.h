#pragma once

#include <functional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// A way to schedule by these costs: those of all devices, or of some alone (CostModel::only).
using Variant = std::function<TimedSchedule(const CostModel&)>;

/// The shortest of what the variants give, the first among equals; timed_out where that one was.
/// The first variant always runs, the others while there is time; what the first refuses is
/// refused. With `unlike`, and where devices differ, each runs on the fastest of them alone, too
/// (fastest_devices): a rule that looks at one operator or path at a time may give a slow device
/// what all others wait for then. REQUIRES: a variant.
TimedSchedule shortest(const Graph& graph, const CostModel& costs,
                       const std::vector<Variant>& variants, bool unlike, const Deadline& deadline);

}  // namespace hios::scheduler
