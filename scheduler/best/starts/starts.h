#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/best/state/search_problem.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler::best {

/// A valid schedule from which the search begins.
struct Start {
  std::string name;  ///< the algorithm's
  Schedule schedule;
  double latency_ms = 0;  ///< by simulate()
};

/// Returns the schedules of `sequential`, plain list scheduling, filling in order
/// (memory_starts.h), `heft`, `peft`, `cluster`, `hios-mr`, `hios-lp`, strips where transfers are
/// expensive (scheduler/algorithms/list/strips.h) and what `hios` makes of the last two, heft and
/// strips, that respect all constraints, where a device cannot hold
/// everything the start by prices (priced_start.h),
/// and where devices differ that by classes (class_start.h), the shortest first. (`hios-mr` and
/// `hios-lp` are no worse than `inter-mr` and `inter-lp`.) In a large graph all begin without Alg.
/// 2, which may take longer than everything else, and run once more with it. They run on up to
/// `threads` threads, which changes nothing but the time. They run one after the other where the
/// cost model reports unmeasured stages, since it does so on the caller's thread. The deadline,
/// asked from all threads, ends each early; an expired one omits the later ones. Throws InputError
/// where no start is found: the devices' memory is too small, or too hard to fill.
std::vector<Start> starts(const Graph& graph, const CostModel& costs, std::size_t threads,
                          const Deadline& deadline);

/// Returns the first of these starts and, if it is by strips or prices, the first of the others,
/// else the first by strips, if there is one. The two are far apart, so the one that is longer may
/// lead to what is shorter in the end. REQUIRES: a start.
std::vector<Schedule> island_starts(const std::vector<Start>& starts);

/// Returns the schedule of `ios` with its defaults but for `max_endings`; nothing where it refuses,
/// or where no schedule of its one device can be shorter than `latency_ms`. The algorithm and the
/// bound of its device end early when the deadline expires.
std::optional<Start> ios_start(const Graph& graph, const CostModel& costs, double latency_ms,
                               std::int64_t max_endings, const Context& context);

}  // namespace hios::scheduler::best
