#pragma once

#include <cstdint>

#include "scheduler/scheduler.h"

namespace hios::scheduler::best {

struct BestOptions {
  std::int64_t iterations = 0;  ///< moves of each island; 0: until the deadline
  std::size_t islands = 0;  ///< parallel searches that share their results; 0: see island_count()
  std::size_t threads = 0;  ///< 0: as many as the machine runs at a time
  /// The other algorithms' schedules may take half of the deadline's time; false: all of it.
  bool starts_take_half = true;
  std::int64_t max_endings = 5'000'000;  ///< limit of `ios`, where it may help
};

/// The number of islands where no other is given.
inline constexpr std::size_t kIslands = 4;

/// Returns the number of islands of a search. Where none is given it is kIslands, but where the
/// deadline alone ends the search, there are no more than threads, or two: in the same time each of
/// them makes longer cycles, which are worth more than further islands.
std::size_t island_count(const BestOptions& options, bool deadline_alone);

struct BestResult {
  Schedule schedule;
  double latency_ms = 0;  ///< by simulate()
  bool optimal = false;   ///< equal to the lower bound
  bool timed_out = false;
};

/// Searches the whole space anytime: the device of every operator, the order on every device, the
/// grouping into stages. Begins with the other algorithms' schedules and `context.start`, and is
/// never worse than any of them with its default options and max_endings, if none of them runs out
/// of time. Under a deadline they share half of the time (Deadline::half(), or all:
/// starts_take_half) in the order of starts/starts.h: those that run then end early with what they
/// have, and later ones do not begin. `ios` gets what they and a second of annealing leave. So one
/// algorithm alone, with all of the time, may be better; but the result is never worse than what
/// any of them returns when its deadline has expired from the beginning.
///
/// Where links or ports carry one tensor at a time, all latencies are those with contention. The
/// search also decides which tensor goes before which, and where that is not first ready, first
/// sent, the schedule lists the order of transfers.
///
/// Where devices differ, the fastest classes of them (scheduler/list/device_classes.h) are also
/// searched alone, with the same budget. So one more class, slower than all others, never makes the
/// result of the same `iterations` longer, for two such classes.
///
/// Ends when the latency equals `bound_ms`, `iterations` are made or `context.deadline` expires;
/// without one of the latter two it may run for ever.
///
/// With `iterations`, the result depends on the arguments and `context.seed` alone, not on the
/// number of threads, unless the deadline ends the search earlier. Without, it also depends on when
/// the deadline does, and on island_count().
///
/// Asks the deadline from several threads at a time. Calls progress and the cost model's
/// on_unmeasured from the calling thread only: the latter for stages that the first algorithms ask
/// for and for those of the result.
///
/// Throws InputError where no placement within the devices' memory is found.
BestResult search(const Graph& graph, const CostModel& costs, const BestOptions& options,
                  double bound_ms, const Context& context);

}  // namespace hios::scheduler::best
