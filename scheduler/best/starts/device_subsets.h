#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "scheduler/best/starts/starts.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::best {

/// A subset of the devices, to be searched alone.
struct DeviceSubset {
  CostModel costs;                      ///< costs of those devices alone (CostModel::only)
  Start start;                          ///< the shortest start on them
  std::vector<Schedule> island_starts;  ///< island_starts() of all starts on them
  double bound_ms = 0;                  ///< a lower bound of schedules on them
};

/// Returns a few device subsets where devices differ: the fastest devices, then those with the next
/// fastest, and so on, without the whole platform (scheduler/list/device_classes.h). Skips devices
/// that cannot hold or run all operators, and, from the largest subset on, those whose bound is not
/// below `known_ms`, the latency of a schedule on all devices. Ends early when the deadline
/// expires.
std::vector<DeviceSubset> device_subsets(const Graph& graph, const CostModel& costs,
                                         std::size_t threads, double known_ms,
                                         const Deadline& deadline);

}  // namespace hios::scheduler::best
