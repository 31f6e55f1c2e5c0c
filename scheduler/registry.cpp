#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "scheduler/algorithms/intra_gpu.h"
#include "scheduler/algorithms/ios.h"
#include "scheduler/algorithms/longest_path.h"
#include "scheduler/algorithms/mapping_recording.h"
#include "scheduler/algorithms/scheduler.h"
#include "scheduler/algorithms/sequential.h"
#include "scheduler/best/best.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/list/requirements.h"

// The table of algorithms, and their one shape: what each refuses, the paper's algorithms composed
// (inter-lp is Alg. 1, inter-mr Alg. 3; hios-lp and hios-mr are those, then Alg. 2), and the result
// with its simulated latency and the graph's lower bound.

namespace hios::scheduler {
namespace {

const OptionSpec kInsertion{"insertion", false, 0, 0,
                            "true: an operator may go into a gap of its device's list; the paper "
                            "puts it after what is already there"};
const OptionSpec kWindow{"window", std::int64_t{4}, 1, 64,
                         "w of Alg. 2: the most operators that one window merges into a stage"};

const std::array<OptionSpec, 1> kInterLpOptions{kInsertion};
const std::array<OptionSpec, 2> kHiosLpOptions{kInsertion, kWindow};
const std::array<OptionSpec, 1> kHiosMrOptions{kWindow};
const OptionSpec kMaxEndings{"max_endings", std::int64_t{5'000'000}, 1, 1e12,
                             "of ios: the most endings tried for a piece of the graph; then the "
                             "best found"};
const std::array<OptionSpec, 3> kIosOptions{
    OptionSpec{"max_group", std::int64_t{3}, 1, 32, "r: the most operators of a group"},
    OptionSpec{"max_groups", std::int64_t{8}, 1, 32, "s: the most groups of a stage"}, kMaxEndings};
const std::array<OptionSpec, 4> kBestOptions{
    OptionSpec{
        "iterations", std::int64_t{0}, 0, 1e15,
        "moves of each island, for the same schedule on any machine; 0: until the time limit"},
    OptionSpec{"islands", std::int64_t{4}, 1, 64,
               "searches side by side that exchange their bests"},
    OptionSpec{"threads", std::int64_t{0}, 0, 1024,
               "that islands share; 0: all of the machine's. Changes the speed alone"},
    kMaxEndings};

LowerBound bound_of(const Graph& graph, const CostModel& costs, const Context& context) {
  return context.bound ? *context.bound : lower_bound(graph, costs);
}

ScheduleResult complete(TimedSchedule found, const Graph& graph, const CostModel& costs,
                        const Options& options, const Context& context) {
  ScheduleResult result;
  const Timeline timeline = simulate(graph, found.schedule, costs);
  result.schedule = std::move(found.schedule);
  result.options = options;
  result.outcome = found.out_of_time ? Outcome::kTimeLimit : Outcome::kFeasible;
  result.latency_ms = timeline.latency_ms;
  result.estimated_stages = timeline.estimated_stages;
  LowerBound bound = beside(bound_of(graph, costs, context), result.latency_ms);
  result.lower_bound_ms = bound.ms;
  result.bound = std::move(bound.name);
  return result;
}

/// The schedule of one device, by its stages.
Schedule on_device(DeviceId device, std::vector<Stage> stages, const Platform& platform) {
  Schedule schedule;
  schedule.devices.resize(platform.size());
  schedule.devices[device.index()] = std::move(stages);
  return schedule;
}

ScheduleResult run_sequential(const Graph& graph, const CostModel& costs, const Platform& platform,
                              const Options& options, const Context& context) {
  const DeviceId device = single_device(graph, costs, "sequential");
  return complete({on_device(device, sequential(graph), platform)}, graph, costs, options, context);
}

ScheduleResult run_ios(const Graph& graph, const CostModel& costs, const Platform& platform,
                       const Options& options, const Context& context) {
  const DeviceId device = single_device(graph, costs, "ios");
  IosOptions limits;
  limits.max_group = static_cast<std::size_t>(options.integer("max_group"));
  limits.max_groups = static_cast<std::size_t>(options.integer("max_groups"));
  limits.max_endings = options.integer("max_endings");
  IosResult found =
      schedule_endings(graph, costs, device, limits, context.out_of_time, context.progress);
  TimedSchedule schedule{on_device(device, std::move(found.stages), platform), found.out_of_time};
  ScheduleResult result = complete(std::move(schedule), graph, costs, options, context);
  if (found.optimal) result.outcome = Outcome::kOptimal;
  return result;
}

/// Alg. 2 after an algorithm that mapped operators to devices.
ScheduleResult then_parallelize(const TimedSchedule& mapped, const Graph& graph,
                                const CostModel& costs, const Options& options,
                                const Context& context) {
  const auto window = static_cast<std::size_t>(options.integer("window"));
  TimedSchedule merged = parallelize(graph, costs, mapped.schedule, window, context.out_of_time);
  merged.out_of_time = merged.out_of_time || mapped.out_of_time;
  return complete(std::move(merged), graph, costs, options, context);
}

TimedSchedule longest_paths(const Graph& graph, const CostModel& costs, const Options& options,
                            const Context& context) {
  return map_longest_paths(graph, costs, {options.boolean("insertion")}, context.out_of_time);
}

ScheduleResult run_inter_lp(const Graph& graph, const CostModel& costs, const Platform&,
                            const Options& options, const Context& context) {
  require_placeable(graph, costs, "inter-lp");
  return complete(longest_paths(graph, costs, options, context), graph, costs, options, context);
}

ScheduleResult run_hios_lp(const Graph& graph, const CostModel& costs, const Platform&,
                           const Options& options, const Context& context) {
  require_placeable(graph, costs, "hios-lp");
  return then_parallelize(longest_paths(graph, costs, options, context), graph, costs, options,
                          context);
}

ScheduleResult run_inter_mr(const Graph& graph, const CostModel& costs, const Platform&,
                            const Options& options, const Context& context) {
  require_placeable(graph, costs, "inter-mr");
  return complete(record_mappings(graph, costs, context.out_of_time), graph, costs, options,
                  context);
}

ScheduleResult run_hios_mr(const Graph& graph, const CostModel& costs, const Platform&,
                           const Options& options, const Context& context) {
  require_placeable(graph, costs, "hios-mr");
  return then_parallelize(record_mappings(graph, costs, context.out_of_time), graph, costs, options,
                          context);
}

ScheduleResult run_best(const Graph& graph, const CostModel& costs, const Platform&,
                        const Options& options, const Context& context) {
  best::BestOptions limits;
  limits.iterations = options.integer("iterations");
  limits.islands = static_cast<std::size_t>(options.integer("islands"));
  limits.threads = static_cast<std::size_t>(options.integer("threads"));
  limits.max_endings = options.integer("max_endings");
  Context bounded = context;
  bounded.bound = bound_of(graph, costs, context);
  best::BestResult found = best::search(graph, costs, limits, bounded.bound->ms, bounded);
  ScheduleResult result =
      complete({std::move(found.schedule), found.out_of_time}, graph, costs, options, bounded);
  if (found.optimal) result.outcome = Outcome::kOptimal;
  return result;
}

// name, description, options, function, many devices, streams, constraints
const std::array<Algorithm, 7> kAlgorithms{{
    {"sequential",
     "one operator after the other on one device",
     {},
     run_sequential,
     false,
     false,
     kWantsOneDevice},
    {"ios", "dynamic programming over the stages of one device (IOS)", kIosOptions, run_ios, false,
     true, kWantsOneDevice},
    {"inter-lp", "longest paths over devices (HIOS, Alg. 1)", kInterLpOptions, run_inter_lp, true,
     false},
    {"hios-lp", "longest paths over devices, then stages on each (HIOS, Alg. 1 and 2)",
     kHiosLpOptions, run_hios_lp, true, true},
    {"inter-mr", "mapping recording over devices (HIOS, Alg. 3)", {}, run_inter_mr, true, false},
    {"hios-mr", "mapping recording over devices, then stages on each (HIOS, Alg. 3 and 2)",
     kHiosMrOptions, run_hios_mr, true, true},
    {"best",
     "search over devices, order and stages, from all of the above; until the bound or time",
     kBestOptions, run_best, true, true},
}};

}  // namespace

std::span<const Algorithm> all() { return kAlgorithms; }

const Algorithm& find(std::string_view name) {
  const auto found = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                  [name](const Algorithm& a) { return a.name == name; });
  if (found != kAlgorithms.end()) return *found;
  std::string names;
  for (const Algorithm& algorithm : kAlgorithms) {
    names += (names.empty() ? "" : ", ") + std::string(algorithm.name);
  }
  throw InputError("no algorithm is called " + std::string(name) + "; there are: " + names);
}

}  // namespace hios::scheduler
