#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "scheduler/best/starts/starts.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::best {

/// Some of the devices, for a search of their own.
struct Nest {
  CostModel costs;      ///< those devices' alone (CostModel::only)
  Start start;          ///< the shortest
  double bound_ms = 0;  ///< no schedule on these devices is shorter
};

/// Where devices differ: the fastest alone, then the next fastest with them, each nest within the
/// next, without the whole (device_classes.h); few at most. None for a large graph, none for
/// devices that cannot hold or run all operators. Ends early once out of time.
std::vector<Nest> nests(const Graph& graph, const CostModel& costs, std::size_t threads,
                        const Deadline& deadline);

}  // namespace hios::scheduler::best
