#pragma once

#include <functional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// A scheduler under some costs: those of all devices or of a subset (CostModel::only).
using Variant = std::function<TimedSchedule(const CostModel&)>;

/// Returns the shortest schedule of the variants, the first among equals; timed_out if that one
/// was. The first variant always runs, and its exceptions pass; the others run before the deadline.
/// With `unlike`, and where devices differ, each also runs on the fastest of them alone
/// (fastest_devices): a rule that considers one operator or path at a time may give a slow device
/// an operator that delays all others. REQUIRES: a variant.
TimedSchedule shortest(const Graph& graph, const CostModel& costs,
                       const std::vector<Variant>& variants, bool unlike, const Deadline& deadline);

}  // namespace hios::scheduler
