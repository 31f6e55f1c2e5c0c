#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hios/base/json/options.h"
#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/deadline.h"

/// The library of schedulers. All have one shape and are pure: no files, clock, rank or global; the
/// same arguments give the same schedule. All results satisfy validate().
///
/// A scheduler of one's own is a function of this shape, usually in four steps: refuse what cannot
/// be scheduled (list/requirements.h), decide the schedule (list/timeline.h places operators one at
/// a time), hand it to complete(), and add a row for it to a Registry (scheduler/registry.h).
///
/// Alg. 1, 2 and 3 are those of Kundu and Shu, "HIOS: Hierarchical Inter-Operator Scheduler for
/// Real-Time Inference of DAG-Structured Deep Learning Models on Multiple GPUs", whose words name
/// what is in these files.
namespace hios::scheduler {

/// What the caller lends to an algorithm beside its options.
struct Context {
  std::uint64_t seed = 0;
  /// Asked often, by `best` from several threads at a time. Algorithms that can end early return
  /// the best schedule found by then, with Outcome::kTimeLimit; those that prepare and then search
  /// end the preparation at half of it.
  Deadline deadline = {};
  /// (optional) A line about long work, shown on a terminal. Called from the caller's thread.
  std::function<void(std::string_view)> progress;
  /// (optional) lower_bound() of the same graph and costs, for callers that ask several algorithms
  /// or time them.
  std::optional<LowerBound> bound = {};
};

struct ScheduleResult {
  Schedule schedule;
  Options options;  ///< the parameters that made it
  Outcome outcome =
      Outcome::kFeasible;  ///< kOptimal only where proven for the algorithm's own space
  double latency_ms = 0;   ///< simulate()'s
  std::size_t estimated_stages = 0;
  double lower_bound_ms = 0;  ///< of this graph on this platform, not of the algorithm
  std::string bound;          ///< its name
};

/// Called from one thread at a time. Throws InputError, which names the algorithm and an operator,
/// where it cannot schedule the graph on the platform.
using ScheduleFunction = std::function<ScheduleResult(
    const Graph&, const CostModel&, const Platform&, const Options&, const Context&)>;

/// What most algorithms do about links that carry one tensor at a time.
inline constexpr std::string_view kIgnoresContention =
    "decides as if links did not contend; its schedule is timed, and compared, with contention";
inline constexpr std::string_view kKeepsContention =
    "searches by the latency with contention, each tensor sent in the order in which they are "
    "ready";
inline constexpr std::string_view kOrdersTransfers =
    "decides when each tensor travels, too, and writes their order into the schedule";
inline constexpr std::string_view kTakesShorterWithContention =
    "plans parts as if links did not contend; takes what is shorter with contention, first ready, "
    "first sent";
inline constexpr std::string_view kMeetsNoContention = "sends nothing, so links cannot contend";

/// What an algorithm does about times by device, `allowed`, `colocate` and memory limits.
inline constexpr std::string_view kKeepsConstraints =
    "keeps time_ms by device, allowed, colocate and memory limits, or refuses by the operator that "
    "finds no place";
inline constexpr std::string_view kKeepsConstraintsInBlocks =
    "keeps time_ms by device, allowed, colocate and memory limits, or refuses where no blocks that "
    "form no cycle keep them";
inline constexpr std::string_view kWantsOneDevice =
    "takes the fastest device that can run and hold all operators, or refuses by the operator that "
    "does not fit";

/// A scheduler as the programs list, describe and call it.
struct Algorithm {
  std::string name;
  std::string description;          ///< one line
  std::vector<OptionSpec> options;  ///< those that `run` reads; its Options are made of them
  ScheduleFunction run;
  bool many_devices = true;  ///< uses more than one device
  bool streams = false;      ///< forms stages of several groups, within a device's `streams`
  /// Proves what it finds, or parts of it, with libraries: refuses all where this build found none
  /// of them, and what is too large for it by its size.
  bool exact = false;
  /// Searches on from other algorithms' schedules: where inputs can be divided, among divisions,
  /// too (scheduler/batches/divided.h).
  bool improves = false;
  /// What `run` makes short. Its result says the latency of one inference all the same; of a
  /// schedule for throughput, period_of() (hios/evaluate/blocks.h) says the period, and the bound
  /// is of it.
  Objective objective = Objective::kLatency;
  /// (optional) What it does for throughput where `run` is for latency. The context's bound is then
  /// of the period.
  ScheduleFunction run_throughput = {};
  std::string constraints = std::string(kKeepsConstraints);
  std::string contention = std::string(kIgnoresContention);  ///< what it does about it
};

/// The result of an algorithm that decided on `schedule`: simulates it, sets the bound beside it.
/// REQUIRES: `schedule` is valid for the graph and platform.
ScheduleResult complete(Schedule schedule, Outcome outcome, const Graph& graph,
                        const CostModel& costs, const Options& options, const Context& context);

/// The context's bound, or, where the caller gave none, the graph's.
LowerBound bound_of(const Graph& graph, const CostModel& costs, const Context& context);

/// The schedule whose one device with work runs these stages.
Schedule on_one_device(const Platform& platform, DeviceId device, std::vector<Stage> stages);

}  // namespace hios::scheduler
