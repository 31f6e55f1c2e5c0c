#include "scheduler/registry.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"
#include "scheduler/algorithms/baselines/annealing.h"
#include "scheduler/algorithms/baselines/evolution.h"
#include "scheduler/algorithms/baselines/greedy.h"
#include "scheduler/algorithms/baselines/ios.h"
#include "scheduler/algorithms/baselines/met.h"
#include "scheduler/algorithms/baselines/sequential.h"
#include "scheduler/algorithms/hios/hios.h"
#include "scheduler/algorithms/hios/mapping_recording.h"
#include "scheduler/algorithms/list/clustering.h"
#include "scheduler/algorithms/list/getf.h"
#include "scheduler/algorithms/list/heft.h"
#include "scheduler/algorithms/list/m_sct.h"
#include "scheduler/algorithms/list/peft.h"
#include "scheduler/algorithms/list/strips.h"
#include "scheduler/algorithms/variants.h"
#include "scheduler/batches/batched_program.h"
#include "scheduler/batches/each_operator.h"
#include "scheduler/best/best.h"
#include "scheduler/cold/algorithms.h"
#include "scheduler/list/requirements.h"
#include "scheduler/option_specs.h"
#include "scheduler/pipeline/algorithms.h"
#include "scheduler/split/algorithms.h"

// The table of algorithms, each in the one shape: options read, problems that it cannot take
// refused. The algorithms of the HIOS paper are composed here: inter-lp is Alg. 1 and inter-mr Alg.
// 3; hios-lp and hios-mr are those, then Alg. 2.

namespace hios::scheduler {
namespace {

Outcome outcome_of(bool timed_out) { return timed_out ? Outcome::kTimeLimit : Outcome::kFeasible; }

Outcome outcome_of(bool optimal, bool timed_out) {
  return optimal ? Outcome::kOptimal : outcome_of(timed_out);
}

ScheduleResult complete(TimedSchedule found, const Problem& problem, const Options& options,
                        const Context& context) {
  return complete(std::move(found.schedule), outcome_of(found.timed_out), problem, options,
                  context);
}

ScheduleResult run_sequential(const Problem& problem, const Options& options,
                              const Context& context) {
  const DeviceId device = single_device(problem.graph(), problem.costs(), "sequential");
  return complete(on_one_device(problem.platform(), device, sequential(problem.graph())),
                  Outcome::kFeasible, problem, options, context);
}

ScheduleResult run_ios(const Problem& problem, const Options& options, const Context& context) {
  const DeviceId device = single_device(problem.graph(), problem.costs(), "ios");
  IosOptions limits;
  limits.max_group = static_cast<std::size_t>(options.integer("max_group"));
  limits.max_groups = static_cast<std::size_t>(options.integer("max_groups"));
  limits.max_endings = options.integer("max_endings");
  IosResult found = schedule_endings(problem.graph(), problem.costs(), device, limits,
                                     context.deadline, context.progress);
  return complete(on_one_device(problem.platform(), device, std::move(found.stages)),
                  outcome_of(found.optimal, found.timed_out), problem, options, context);
}

/// Returns the shortest schedule of the variants, each followed by Alg. 2 where the options have
/// its window.
TimedSchedule shortest_with_stages(const std::vector<Variant>& variants, const Problem& problem,
                                   const Options& options, const Context& context) {
  std::vector<Variant> whole = variants;
  for (Variant& map : whole) {
    if (!options.has("window")) break;
    const auto window = static_cast<std::size_t>(options.integer("window"));
    map = with_stages(problem.graph(), std::move(map), window, context.deadline);
  }
  return shortest(problem.graph(), problem.costs(), whole, options.boolean("subsets"),
                  context.deadline);
}

/// Returns the mappings of inter-lp and hios-lp.
std::vector<Variant> longest_paths(const Graph& graph, const Options& options,
                                   const Context& context) {
  return longest_path_variants(graph, options.boolean("insertion"), options.boolean("any_paths"),
                               context.deadline);
}

/// Returns inter-lp and, with a window among its options, hios-lp.
ScheduleFunction by_longest_paths(std::string name) {
  return [name = std::move(name)](const Problem& problem, const Options& options,
                                  const Context& context) {
    require_placeable(problem.graph(), problem.costs(), name);
    const auto variants = longest_paths(problem.graph(), options, context);
    return complete(shortest_with_stages(variants, problem, options, context), problem, options,
                    context);
  };
}

/// An algorithm that maps operators to devices, by the costs that it is given, in one way.
using Map = TimedSchedule (*)(const Graph&, const CostModel&, const Options&, const Deadline&);

/// Returns the algorithm `name`: the mapping and, with a window among its options, then Alg. 2.
ScheduleFunction by_mapping(std::string name, Map map) {
  return [name = std::move(name), map](const Problem& problem, const Options& options,
                                       const Context& context) {
    require_placeable(problem.graph(), problem.costs(), name);
    const Variant variant = [&](const CostModel& by) {
      return map(problem.graph(), by, options, context.deadline);
    };
    return complete(shortest_with_stages({variant}, problem, options, context), problem, options,
                    context);
  };
}

/// A mapping that has no options.
template <TimedSchedule (*map)(const Graph&, const CostModel&, const Deadline&)>
TimedSchedule plainly(const Graph& graph, const CostModel& costs, const Options&,
                      const Deadline& deadline) {
  return map(graph, costs, deadline);
}

TimedSchedule map_by_heft(const Graph& graph, const CostModel& costs, const Options& options,
                          const Deadline& deadline) {
  return schedule_heft(graph, costs, {options.boolean("least_ranks")}, deadline);
}

TimedSchedule map_by_recording(const Graph& graph, const CostModel& costs, const Options& options,
                               const Deadline& deadline) {
  return record_mappings(
      graph, costs, deadline,
      options.boolean("least_latency") ? LastRow::kLeastLatency : LastRow::kPaper);
}

/// Runs heft, hios-lp and, where transfers are expensive, strips, for half of the time at most,
/// then passes over the shortest schedule.
ScheduleResult run_hios(const Problem& problem, const Options& options, const Context& context) {
  require_placeable(problem.graph(), problem.costs(), "hios");
  Context start = context;
  start.deadline = context.deadline.half();
  std::vector<Variant> variants{[&](const CostModel& by) {  // first: it takes the least time
    return map_by_heft(problem.graph(), by, options, start.deadline);
  }};
  for (const Variant& map : longest_paths(problem.graph(), options, start)) {
    variants.push_back(map);
  }
  if (transfers_are_expensive(problem.graph(), problem.costs())) {
    variants.push_back(
        [&](const CostModel& by) { return schedule_strips(problem.graph(), by, start.deadline); });
  }
  return complete(
      improve_by_passes(problem.graph(), problem.costs(),
                        shortest_with_stages(variants, problem, options, start),
                        static_cast<std::size_t>(options.integer("rounds")), context.deadline),
      problem, options, context);
}

/// Returns a baseline of the papers on unlike devices: one operator a stage, the schedule as it is
/// found.
template <class Schedule>
ScheduleFunction baseline(std::string name, Schedule schedule) {
  return [name = std::move(name), schedule](const Problem& problem, const Options& options,
                                            const Context& context) {
    require_placeable(problem.graph(), problem.costs(), name);
    return complete(schedule(problem.graph(), problem.costs(), context.deadline), problem, options,
                    context);
  };
}

/// Returns a baseline that searches, by `iterations` and the seed.
template <class Schedule>
ScheduleFunction searching_baseline(std::string name, Schedule schedule) {
  return [name = std::move(name), schedule](const Problem& problem, const Options& options,
                                            const Context& context) {
    require_placeable(problem.graph(), problem.costs(), name);
    return complete(schedule(problem.graph(), problem.costs(), options.integer("iterations"),
                             context.seed, context.deadline),
                    problem, options, context);
  };
}

ScheduleResult run_best(const Problem& problem, const Options& options, const Context& context) {
  best::BestOptions limits;
  limits.iterations = options.integer("iterations");
  limits.islands = static_cast<std::size_t>(options.integer("islands"));
  limits.threads = static_cast<std::size_t>(options.integer("threads"));
  limits.max_endings = options.integer("max_endings");
  Context known = context;
  known.bound = bound_of(problem.graph(), problem.costs(), context);
  best::BestResult found =
      best::search(problem.graph(), problem.costs(), limits, known.bound->ms, known);
  return complete(std::move(found.schedule), outcome_of(found.optimal, found.timed_out), problem,
                  options, known);
}

ScheduleResult run_best_cold_start(const Problem& problem, const Options& options,
                                   const Context& context) {
  return cold::run_best(problem, options, context, built_in().all());
}

std::array<Algorithm, 20> table() {
  const Specs specs;
  const std::string one_device(kWantsOneDevice);
  return {{
      {.name = "sequential",
       .description = "one operator after the other on one device",
       .options = {},
       .run = run_sequential,
       .many_devices = false,
       .constraints = one_device,
       .contention = std::string(kMeetsNoContention)},
      {.name = "ios",
       .description = "dynamic programming over the stages of one device (IOS)",
       .options = {specs.max_group, specs.max_groups, specs.max_endings},
       .run = run_ios,
       .many_devices = false,
       .streams = true,
       .constraints = one_device,
       .contention = std::string(kMeetsNoContention)},
      {.name = "inter-lp",
       .description = "longest paths over devices (HIOS, Alg. 1)",
       .options = {specs.insertion, specs.any_paths, specs.subsets},
       .run = by_longest_paths("inter-lp")},
      {.name = "hios-lp",
       .description = "longest paths over devices, then stages on each (HIOS, Alg. 1 and 2)",
       .options = {specs.insertion, specs.any_paths, specs.subsets, specs.window},
       .run = by_longest_paths("hios-lp"),
       .streams = true},
      {.name = "inter-mr",
       .description = "mapping recording over devices (HIOS, Alg. 3)",
       .options = {specs.subsets, specs.least_latency},
       .run = by_mapping("inter-mr", map_by_recording)},
      {.name = "hios-mr",
       .description = "mapping recording over devices, then stages on each (HIOS, Alg. 3 and 2)",
       .options = {specs.subsets, specs.least_latency, specs.window},
       .run = by_mapping("hios-mr", map_by_recording),
       .streams = true},
      {.name = "heft",
       .description = "earliest finish by upward rank, in gaps too (HEFT), then stages on each",
       .options = {specs.least_ranks, specs.subsets, specs.window},
       .run = by_mapping("heft", map_by_heft),
       .streams = true,
       .divide = divide_by_ranks},
      {.name = "peft",
       .description = "earliest finish with a look ahead (PEFT), then stages on each",
       .options = {specs.subsets, specs.window},
       .run = by_mapping("peft", plainly<schedule_peft>),
       .streams = true},
      {.name = "cluster",
       .description = "clusters by expensive transfers (DSC) to devices, then stages on each",
       .options = {specs.subsets, specs.window},
       .run = by_mapping("cluster", plainly<schedule_clusters>),
       .streams = true},
      {.name = "hios",
       .description =
           "the shorter of hios-lp and heft, then passes from both ends, and pairs in slack",
       .options = {specs.insertion, specs.any_paths, specs.least_ranks, specs.subsets, specs.window,
                   specs.rounds},
       .run = run_hios,
       .streams = true,
       .divide = divide_by_any},
      {.name = "met",
       .description = "each operator on the device that is fastest for it (DiviML's baseline)",
       .options = {},
       .run = baseline("met", schedule_met),
       .divide = divide_by_times},
      {.name = "greedy",
       .description = "breadth first, each operator where it ends first (DiviML's baseline)",
       .options = {},
       .run = baseline("greedy", schedule_greedily),
       .divide = divide_greedily},
      {.name = "getf",
       .description = "earliest start within groups of like speed (GETF; groups by a rule, no LP)",
       .options = {},
       .run = baseline("getf", schedule_getf)},
      {.name = "m-sct",
       .description = "earliest start with favourite children (Baechi; chosen by a rule, no LP)",
       .options = {},
       .run = baseline("m-sct", schedule_m_sct)},
      {.name = "annealing",
       .description = "simulated annealing over devices alone (DiviML's baseline)",
       .options = {specs.steps},
       .run = searching_baseline("annealing", schedule_annealing)},
      {.name = "ea",
       .description = "(1+1) evolution over devices alone, from met's (DiviML's baseline)",
       .options = {specs.steps},
       .run = searching_baseline("ea", schedule_evolution)},
      {.name = "best",
       .description =
           "search over devices, order and stages, from sequential to hios; until the bound or "
           "time",
       .options = {specs.iterations, specs.islands_of_best, specs.threads, specs.max_endings},
       .run = run_best,
       .streams = true,
       .improves = true,
       .run_throughput = pipeline::run_best,
       .divide = divide_by_any,
       .run_cold_start = run_best_cold_start,
       .contention = std::string(kOrdersTransfers)},
      {.name = "milp",
       .description = "the optimum of small problems by a linear program's solver, and its proof",
       .options = {specs.solver, specs.symmetry, specs.nodes, specs.start_moves},
       .run = split::run_milp,
       .streams = true,
       .exact = true,
       .divide = divide_by_program,
       .contention = std::string(kOrdersTransfers)},
      {.name = "milp-split",
       .description = "modules by the same solver: the optimum of modules in a row (DiviML)",
       .options = {specs.solver, specs.symmetry, specs.nodes, specs.start_moves, specs.channels,
                   specs.modules},
       .run = split::run_milp_split,
       .streams = true,
       .exact = true,
       .divide = divide_by_any,
       .contention = std::string(kTakesShorterWithContention)},
      {.name = "slice-graph",
       .description = "orders of all operators cut into blocks, one a device (SliceGraph)",
       .options = {specs.order, specs.population, specs.generations},
       .run = pipeline::run_slice_graph,
       .objective = Objective::kThroughput,
       .constraints = std::string(kKeepsConstraintsInBlocks)},
  }};
}

/// Returns true if the name can be part of a list of names, separated by commas.
bool is_one_word(std::string_view name) {
  return !name.empty() && name.find_first_of(", \t\r\n") == std::string_view::npos;
}

}  // namespace

void Registry::add(Algorithm algorithm) {
  const std::string refusal = "an algorithm cannot be called " + quote(algorithm.name);
  if (!is_one_word(algorithm.name)) throw InputError(refusal + ": a name is a word without commas");
  if (algorithm.name == "all") throw InputError(refusal + ": that means all of them");
  const auto same = [&](const Algorithm& other) { return other.name == algorithm.name; };
  if (std::any_of(algorithms_.begin(), algorithms_.end(), same)) {
    throw InputError(refusal + ": there is one of that name");
  }
  if (!algorithm.run) throw InputError("algorithm " + algorithm.name + " has no function");
  const Options checked(algorithm.options);  // throws for a default out of bounds
  algorithms_.push_back(std::move(algorithm));
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> list;
  for (const Algorithm& algorithm : algorithms_) list.push_back(algorithm.name);
  return list;
}

const Algorithm& Registry::find(std::string_view name) const {
  const auto found = std::find_if(algorithms_.begin(), algorithms_.end(),
                                  [name](const Algorithm& a) { return a.name == name; });
  if (found != algorithms_.end()) return *found;
  const std::vector<std::string> known = names();
  std::string list;
  for (const std::string& each : known) list += (list.empty() ? "" : ", ") + each;
  throw InputError("no algorithm is called " + std::string(name) + "; there are: " + list +
                   did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end())));
}

const Registry& built_in() {
  static const Registry registry = [] {
    Registry made;
    for (Algorithm& algorithm : table()) made.add(std::move(algorithm));
    for (Algorithm& algorithm : cold_start_algorithms()) made.add(std::move(algorithm));
    return made;
  }();
  return registry;
}

}  // namespace hios::scheduler
