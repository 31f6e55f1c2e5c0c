#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hios/base/json/options.h"
#include "hios/schedule/schedule.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/deadline.h"
#include "scheduler/problem.h"

/// The library of schedulers. All have one shape and are pure: no files, clocks, ranks or globals;
/// the same arguments give the same schedule. All results satisfy validate().
///
/// A scheduler of a user's own is a function of this shape, usually in four steps: refuse what
/// cannot be scheduled (list/requirements.h), decide the schedule (list/timeline.h schedules
/// operators one at a time), pass it to complete(), and add a row for it to a Registry
/// (scheduler/registry.h).
///
/// Alg. 1, 2 and 3 are those of Kundu and Shu, "HIOS: Hierarchical Inter-Operator Scheduler for
/// Real-Time Inference of DAG-Structured Deep Learning Models on Multiple GPUs", whose terms these
/// files use.
namespace hios::scheduler {

/// Everything that an algorithm is given besides the problem and its options.
struct Context {
  std::uint64_t seed = 0;
  /// Asked often, by `best` from several threads at a time. Algorithms that can end early return
  /// the best schedule found by then, with Outcome::kTimeLimit; those that prepare and then search
  /// end the preparation at half of it.
  Deadline deadline = {};
  /// (optional) Shows a line about long work on a terminal. Called from the caller's thread.
  std::function<void(std::string_view)> progress;
  /// (optional) lower_bound() of the same graph and costs, or cold_start_bound(), for callers that
  /// run several algorithms or time them.
  std::optional<LowerBound> bound = {};
  /// (optional) A valid schedule of the same graph and platform, for latency, from which an
  /// algorithm with Algorithm::improves may start: its result is never worse then.
  const Schedule* start = nullptr;
};

struct ScheduleResult {
  Schedule schedule;
  Options options;  ///< the parameters that made it
  Outcome outcome =
      Outcome::kFeasible;  ///< kOptimal only where proven for the algorithm's own space
  double latency_ms = 0;   ///< simulate()'s latency
  std::size_t estimated_stages = 0;
  double lower_bound_ms = 0;  ///< bound of this graph on this platform, not of the algorithm
  std::string bound;          ///< the bound's name
  /// One sentence where the schedule is not what the options ask for; else empty.
  std::string warning = {};
};

/// Called from one thread at a time. Throws InputError, which names the algorithm and an operator,
/// where it cannot schedule the graph on the platform.
using ScheduleFunction =
    std::function<ScheduleResult(const Problem&, const Options&, const Context&)>;

struct TimedDivision;
/// (scheduler/batches/each_operator.h)
using DividingFunction =
    std::function<std::optional<TimedDivision>(const DivisibleProblem&, const Deadline&)>;

/// How most algorithms treat links that carry one tensor at a time.
inline constexpr std::string_view kIgnoresContention =
    "decides as if links did not contend; its schedule is timed, and compared, with contention";
inline constexpr std::string_view kKeepsContention =
    "searches by the latency with contention, each tensor sent in the order in which they are "
    "ready";
inline constexpr std::string_view kOrdersTransfers =
    "decides when each tensor travels, too, and writes their order into the schedule";
inline constexpr std::string_view kTakesShorterWithContention =
    "plans modules as if links did not contend; takes the schedule that is shorter with "
    "contention, "
    "first ready, first sent";
inline constexpr std::string_view kMeetsNoContention = "sends nothing, so links cannot contend";

/// How an algorithm treats times by device, `allowed`, `colocate` and memory limits.
inline constexpr std::string_view kKeepsConstraints =
    "keeps time_ms by device, allowed, colocate and memory limits, or names an operator for which "
    "no device is left";
inline constexpr std::string_view kKeepsConstraintsInBlocks =
    "keeps time_ms by device, allowed, colocate and memory limits, or refuses where no blocks that "
    "form no cycle keep them";
inline constexpr std::string_view kWantsOneDevice =
    "takes the fastest device that can run and hold all operators, or names an operator that does "
    "not fit";

/// A scheduler as programs list, describe and call it.
struct Algorithm {
  std::string name;
  std::string description;          ///< one line
  std::vector<OptionSpec> options;  ///< the options that `run` reads
  ScheduleFunction run;
  bool many_devices = true;  ///< uses more than one device
  bool streams = false;      ///< forms stages of several groups, within a device's `streams`
  /// Proves its schedules, or parts of them, with solvers: refuses every problem where this build
  /// has no solver, and those that are too large for it.
  bool exact = false;
  /// Improves other algorithms' schedules; where inputs can be divided, also their divisions
  /// (scheduler/batches/divided.h).
  bool improves = false;
  /// The objective of `run`. Its result states the latency of one inference in any case. For
  /// throughput, period_of() (hios/evaluate/blocks.h) gives the period, and the bound is of it.
  Objective objective = Objective::kLatency;
  /// (optional) The function for throughput where `run` is for latency. The context's bound is then
  /// of the period.
  ScheduleFunction run_throughput = {};
  /// (optional) Divides inputs operator by operator, where they can be divided, next to the even
  /// divisions that every algorithm plans; nothing where it finds no schedule.
  DividingFunction divide = {};
  /// (optional) The function for cold starts where `run` is for latency; without one, the schedule
  /// for latency is completed with loads. The context's bound is then of the cold start.
  ScheduleFunction run_cold_start = {};
  std::string constraints = std::string(kKeepsConstraints);
  std::string contention = std::string(kIgnoresContention);
};

/// Returns the result of an algorithm that decided on `schedule`, with its simulated latency and
/// the bound: the context's, or else lower_bound(), for cold starts without memory limits
/// (bounds/unlimited_costs.h). REQUIRES: `schedule` is valid for the problem's graph and platform.
ScheduleResult complete(Schedule schedule, Outcome outcome, const Problem& problem,
                        const Options& options, const Context& context);

/// Returns the context's bound, or the graph's where the caller gave none.
LowerBound bound_of(const Graph& graph, const CostModel& costs, const Context& context);

/// Returns the schedule in which one device runs these stages and the others run none.
Schedule on_one_device(const Platform& platform, DeviceId device, std::vector<Stage> stages);

}  // namespace hios::scheduler
