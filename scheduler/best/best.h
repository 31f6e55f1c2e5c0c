#pragma once

#include "scheduler/scheduler.h"

namespace hios::scheduler::best {

struct BestOptions {
  std::int64_t iterations = 0;           ///< moves of each island; 0: until time is up
  std::size_t islands = 4;               ///< searches side by side, which share what they find
  std::size_t threads = 0;               ///< 0: as many as the machine runs at a time
  std::int64_t max_endings = 5'000'000;  ///< of `ios`, where that is worth a try
};

struct BestResult {
  Schedule schedule;
  double latency_ms = 0;  ///< simulate()'s
  bool optimal = false;   ///< equal to the lower bound
  bool timed_out = false;
};

/// An anytime search over the whole space: device of every operator, order on every device,
/// grouping into stages. Begins with the other algorithms' schedules and is never worse than any of
/// them with their default options and max_endings, where none of them runs out of time. Where time
/// is short, they share half of it (Deadline::half()) in the order of starts.h: those at work then
/// end early and count with what they have, those behind them do not begin; and `ios` has what they
/// and a second of annealing leave. So alone, with all of the time, one of them may come further;
/// but never is the result worse than what any of them returns when it is out of time from the
/// beginning.
///
/// Where links carry one tensor at a time, all latencies are those with contention, in the order
/// first ready, first sent; no order of transfers is searched or listed.
///
/// Where devices differ, the fastest classes of them (device_classes.h) are searched for themselves
/// too, with the same budget. So with one class more, slower than all others, the same `iterations`
/// never end at a longer schedule: in graphs of up to 2000 operators, for two such classes more.
///
/// Ends when the latency equals `bound_ms`, `iterations` are made or `context.deadline` expires;
/// without one of the latter two it may run for ever.
///
/// The result follows from the arguments, `context.seed` and `iterations` alone, whatever the
/// number of threads. Where the deadline ends the search, it depends on when that was.
///
/// Asks the deadline from several threads at a time; calls progress from the calling thread only,
/// and the cost model's on_unmeasured too: for what the algorithms it begins with ask, and for the
/// stages of the schedule that it returns.
///
/// Throws InputError where no placement within the devices' memory is found.
BestResult search(const Graph& graph, const CostModel& costs, const BestOptions& options,
                  double bound_ms, const Context& context);

}  // namespace hios::scheduler::best
