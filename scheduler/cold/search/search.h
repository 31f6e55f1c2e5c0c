#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/cold/search/cold_plan.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler::cold {

struct SearchOptions {
  std::int64_t iterations = 0;  ///< moves of each island; 0: until the deadline
  std::size_t islands = 4;      ///< parallel searches that share their results
  std::size_t threads = 0;      ///< 0: as many as the machine runs at a time
};

struct SearchResult {
  Schedule schedule;
  bool optimal = false;  ///< equal to the lower bound
  bool timed_out = false;
};

/// Searches cold starts anytime, by simulate(): the device and order of stages, the order of loads,
/// the devices that pass parameters on, and reads in place. It makes no evictions and no stages of
/// several operators. The result is never longer than any of `starts`. Ends when the latency equals
/// `bound_ms`, `iterations` are made or the deadline expires; without one of the latter two, after
/// a number of moves by operator.
///
/// The result depends on the arguments, `context.seed` and `iterations` alone, not on the number of
/// threads. If the deadline ends the search, it also depends on when. REQUIRES: a topology; starts,
/// all valid with what devices hold before.
SearchResult search(const CostModel& costs, const std::vector<Schedule>& starts,
                    const SearchOptions& options, double bound_ms, const Context& context,
                    const Held& held = {});

}  // namespace hios::scheduler::cold
