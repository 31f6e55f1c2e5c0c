#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/best/state/search_problem.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler::best {

/// A valid schedule to begin with.
struct Start {
  std::string name;  ///< of the algorithm
  Schedule schedule;
  double latency_ms = 0;  ///< simulate()'s
};

/// What `sequential`, plain list scheduling, filling in order (memory_starts.h), `heft`, `peft`,
/// `cluster`, `hios-mr` and `hios-lp` (the last two no worse than `inter-mr` and `inter-lp`)
/// return, where that keeps all constraints; the shortest first. In a large graph all begin without
/// Alg. 2, which may take longer than all else, and come once more with it. They run side by side
/// on up to `threads` threads, which changes nothing but the time; one after the other where the
/// cost model reports unmeasured stages, since it does so on the caller's thread. None is left out
/// for want of time: the deadline, asked from all of these threads, ends each early. Throws
/// InputError where no start is found: the devices' memory is too small, or too hard to fill.
std::vector<Start> starts(const Graph& graph, const CostModel& costs, std::size_t threads,
                          const Deadline& deadline);

/// What `ios` returns with its defaults but for `max_endings`; nothing where it refuses, or where
/// no schedule of its one device can be shorter than `latency_ms`. It ends early, as does the bound
/// that it is judged by, once out of time.
std::optional<Start> ios_start(const Graph& graph, const CostModel& costs, double latency_ms,
                               std::int64_t max_endings, const Context& context);

}  // namespace hios::scheduler::best
