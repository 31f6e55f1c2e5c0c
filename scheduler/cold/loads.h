#pragma once

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler {

/// When stages may start, other than by their own parameters.
enum class LoadOrder {
  kPipelined,  ///< a stage waits for its own parameters
  kLoadFirst,  ///< and for all others
};

/// Returns a schedule for a cold start: the given one, and for each device that needs parameters a
/// lane that loads them in the order of their first use, each once, from the store whose route
/// takes the least time for all of them (the first of several). Throws InputError where no route
/// leads from a store to such a device. REQUIRES: a topology, and a schedule that is valid without
/// loads.
Schedule with_loads(Schedule schedule, const Graph& graph, const Platform& platform,
                    LoadOrder order = LoadOrder::kPipelined);

}  // namespace hios::scheduler
