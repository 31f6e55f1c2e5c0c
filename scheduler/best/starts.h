#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduler/best/problem.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler::best {

/// A valid schedule to begin with.
struct Start {
  std::string name;  ///< of the algorithm
  Schedule schedule;
  double latency_ms = 0;  ///< simulate()'s
};

/// The schedules of `sequential`, `hios-lp` and `hios-mr` (which are no worse than `inter-lp` and
/// `inter-mr`), where they keep all constraints, and placed_schedule()'s where none of them does;
/// the shortest first. Once out of time, those that there are. Throws InputError where no start is
/// found: the devices' memory is too small, or too hard to fill.
std::vector<Start> starts(const Graph& graph, const CostModel& costs,
                          const std::function<bool()>& out_of_time);

/// `ios` with its defaults but for `max_endings`, unless no schedule of its one device can be
/// shorter than `latency_ms`.
std::vector<Start> ios_start(const Graph& graph, const CostModel& costs, double latency_ms,
                             std::int64_t max_endings, const Context& context);

}  // namespace hios::scheduler::best
