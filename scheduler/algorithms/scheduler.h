#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hios/base/options.h"
#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"
#include "scheduler/bounds/bounds.h"

/// The library of schedulers. All have one shape and are pure: no files, clock, rank or global; the
/// same arguments give the same schedule. All results satisfy validate().
namespace hios::scheduler {

/// What the caller lends to an algorithm beside its options.
struct Context {
  std::uint64_t seed = 0;
  /// True once the caller's time is up; asked often, so it must be cheap, and by `best` from
  /// several threads at a time. Empty: never. Algorithms that can end early return the best found
  /// with Outcome::kTimeLimit.
  std::function<bool()> out_of_time;
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

using ScheduleFunction = ScheduleResult (*)(const Graph&, const CostModel&, const Platform&,
                                            const Options&, const Context&);

/// What an algorithm does about times by device, `allowed`, `colocate` and memory limits.
inline constexpr std::string_view kKeepsConstraints =
    "keeps time_ms by device, allowed, colocate and memory limits, or refuses by the operator that "
    "finds no place";
inline constexpr std::string_view kWantsOneDevice =
    "takes the first device that can run and hold all operators, or refuses by the operator that "
    "does not fit";

/// A row of the table that `--list-algorithms` prints.
struct Algorithm {
  std::string_view name;
  std::string_view description;
  std::span<const OptionSpec> options;
  ScheduleFunction run;
  bool many_devices;  ///< uses more than the first device
  bool streams;       ///< forms stages of several groups, within a device's `streams`
  std::string_view constraints = kKeepsConstraints;
};

std::span<const Algorithm> all();
/// Throws InputError that lists the names.
const Algorithm& find(std::string_view name);

}  // namespace hios::scheduler
