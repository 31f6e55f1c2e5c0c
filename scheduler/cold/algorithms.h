#pragma once

#include <span>
#include <vector>

#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// Returns the room's rows of the registry: schedulers for cold starts alone.
std::vector<Algorithm> cold_start_algorithms();

namespace cold {

/// Returns the cold starts from which run_best() starts, in the order of `all`. Throws the first
/// refusal where there is none.
std::vector<Schedule> start_schedules(const Problem& problem, const Context& context,
                                      std::span<const Algorithm> all);

/// Runs search() (search/search.h) by the options `iterations`, `islands` and `threads`. It starts
/// from the cold starts that the others among `all` make with their default options in half of the
/// time: not from those that are exact, which may take all of it, or improve schedules. Also from
/// each split of deepplan, and from sortinghat's greedy schedule. So it is never longer than any of
/// these, if none of them runs out of time.
ScheduleResult run_best(const Problem& problem, const Options& options, const Context& context,
                        std::span<const Algorithm> all);

}  // namespace cold
}  // namespace hios::scheduler
