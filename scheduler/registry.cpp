#include "scheduler/registry.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "scheduler/algorithms/baselines/annealing.h"
#include "scheduler/algorithms/baselines/evolution.h"
#include "scheduler/algorithms/baselines/greedy.h"
#include "scheduler/algorithms/baselines/ios.h"
#include "scheduler/algorithms/baselines/met.h"
#include "scheduler/algorithms/baselines/sequential.h"
#include "scheduler/algorithms/hios/intra_gpu.h"
#include "scheduler/algorithms/hios/longest_path.h"
#include "scheduler/algorithms/hios/mapping_recording.h"
#include "scheduler/algorithms/list/clustering.h"
#include "scheduler/algorithms/list/getf.h"
#include "scheduler/algorithms/list/heft.h"
#include "scheduler/algorithms/list/m_sct.h"
#include "scheduler/algorithms/list/peft.h"
#include "scheduler/algorithms/variants.h"
#include "scheduler/best/best.h"
#include "scheduler/list/requirements.h"
#include "scheduler/milp/milp.h"
#include "scheduler/option_specs.h"
#include "scheduler/pipeline/algorithms.h"
#include "scheduler/split/split.h"

// The table of algorithms, and the adapters that give them one shape: checks of the problem, and
// the composition of the HIOS paper's algorithms. (inter-lp is Alg. 1, inter-mr Alg. 3; hios-lp and
// hios-mr are these, then Alg. 2.)

namespace hios::scheduler {
namespace {

Outcome outcome_of(bool timed_out) { return timed_out ? Outcome::kTimeLimit : Outcome::kFeasible; }

ScheduleResult complete(TimedSchedule found, const Graph& graph, const CostModel& costs,
                        const Options& options, const Context& context) {
  return complete(std::move(found.schedule), outcome_of(found.timed_out), graph, costs, options,
                  context);
}

ScheduleResult run_sequential(const Graph& graph, const CostModel& costs, const Platform& platform,
                              const Options& options, const Context& context) {
  const DeviceId device = single_device(graph, costs, "sequential");
  return complete(on_one_device(platform, device, sequential(graph)), Outcome::kFeasible, graph,
                  costs, options, context);
}

ScheduleResult run_ios(const Graph& graph, const CostModel& costs, const Platform& platform,
                       const Options& options, const Context& context) {
  const DeviceId device = single_device(graph, costs, "ios");
  IosOptions limits;
  limits.max_group = static_cast<std::size_t>(options.integer("max_group"));
  limits.max_groups = static_cast<std::size_t>(options.integer("max_groups"));
  limits.max_endings = options.integer("max_endings");
  IosResult found =
      schedule_endings(graph, costs, device, limits, context.deadline, context.progress);
  return complete(on_one_device(platform, device, std::move(found.stages)),
                  found.optimal ? Outcome::kOptimal : outcome_of(found.timed_out), graph, costs,
                  options, context);
}

/// Runs the shortest of the variants, each followed by Alg. 2 if the options have its window.
ScheduleResult run_variants(const std::vector<Variant>& variants, const Graph& graph,
                            const CostModel& costs, const Options& options,
                            const Context& context) {
  std::vector<Variant> whole;
  for (const Variant& map : variants) {
    whole.emplace_back([&](const CostModel& by) {
      TimedSchedule mapped = map(by);
      if (!options.has("window")) return mapped;
      const auto window = static_cast<std::size_t>(options.integer("window"));
      TimedSchedule merged = parallelize(graph, by, mapped.schedule, window, context.deadline);
      merged.timed_out = merged.timed_out || mapped.timed_out;
      return merged;
    });
  }
  return complete(shortest(graph, costs, whole, options.boolean("subsets"), context.deadline),
                  graph, costs, options, context);
}

/// Returns the mappings of inter-lp and hios-lp, the paper's first.
std::vector<Variant> longest_paths(const Graph& graph, const Options& options,
                                   const Context& context) {
  std::vector<Variant> variants;
  for (const bool through_touching : {false, true}) {
    for (const bool insertion : {false, true}) {
      if (through_touching && !options.boolean("any_paths")) continue;
      if (insertion && !options.boolean("insertion")) continue;
      variants.emplace_back([&graph, &context, insertion, through_touching](const CostModel& by) {
        return map_longest_paths(graph, by, {insertion, through_touching}, context.deadline);
      });
    }
  }
  return variants;
}

ScheduleResult run_inter_lp(const Graph& graph, const CostModel& costs, const Platform&,
                            const Options& options, const Context& context) {
  require_placeable(graph, costs, "inter-lp");
  return run_variants(longest_paths(graph, options, context), graph, costs, options, context);
}

ScheduleResult run_hios_lp(const Graph& graph, const CostModel& costs, const Platform&,
                           const Options& options, const Context& context) {
  require_placeable(graph, costs, "hios-lp");
  return run_variants(longest_paths(graph, options, context), graph, costs, options, context);
}

std::vector<Variant> mappings(const Graph& graph, const Context& context) {
  return {[&](const CostModel& by) { return record_mappings(graph, by, context.deadline); }};
}

ScheduleResult run_inter_mr(const Graph& graph, const CostModel& costs, const Platform&,
                            const Options& options, const Context& context) {
  require_placeable(graph, costs, "inter-mr");
  return run_variants(mappings(graph, context), graph, costs, options, context);
}

ScheduleResult run_hios_mr(const Graph& graph, const CostModel& costs, const Platform&,
                           const Options& options, const Context& context) {
  require_placeable(graph, costs, "hios-mr");
  return run_variants(mappings(graph, context), graph, costs, options, context);
}

ScheduleResult run_heft(const Graph& graph, const CostModel& costs, const Platform&,
                        const Options& options, const Context& context) {
  require_placeable(graph, costs, "heft");
  const HeftOptions ranks{options.boolean("least_ranks")};
  const Variant map = [&](const CostModel& by) {
    return schedule_heft(graph, by, ranks, context.deadline);
  };
  return run_variants({map}, graph, costs, options, context);
}

ScheduleResult run_peft(const Graph& graph, const CostModel& costs, const Platform&,
                        const Options& options, const Context& context) {
  require_placeable(graph, costs, "peft");
  const Variant map = [&](const CostModel& by) {
    return schedule_peft(graph, by, context.deadline);
  };
  return run_variants({map}, graph, costs, options, context);
}

ScheduleResult run_cluster(const Graph& graph, const CostModel& costs, const Platform&,
                           const Options& options, const Context& context) {
  require_placeable(graph, costs, "cluster");
  const Variant map = [&](const CostModel& by) {
    return schedule_clusters(graph, by, context.deadline);
  };
  return run_variants({map}, graph, costs, options, context);
}

/// Runs a baseline of the papers on unlike devices: one operator a stage.
template <class Schedule>
ScheduleFunction baseline(std::string name, Schedule schedule) {
  return [name = std::move(name), schedule](const Graph& graph, const CostModel& costs,
                                            const Platform&, const Options& options,
                                            const Context& context) {
    require_placeable(graph, costs, name);
    return complete(schedule(graph, costs, context.deadline), graph, costs, options, context);
  };
}

/// Runs a baseline that searches, with `iterations` and the seed.
template <class Schedule>
ScheduleFunction searching_baseline(std::string name, Schedule schedule) {
  return [name = std::move(name), schedule](const Graph& graph, const CostModel& costs,
                                            const Platform&, const Options& options,
                                            const Context& context) {
    require_placeable(graph, costs, name);
    return complete(
        schedule(graph, costs, options.integer("iterations"), context.seed, context.deadline),
        graph, costs, options, context);
  };
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
  return complete(std::move(found.schedule),
                  found.optimal ? Outcome::kOptimal : outcome_of(found.timed_out), graph, costs,
                  options, bounded);
}

ScheduleResult run_milp(const Graph& graph, const CostModel& costs, const Platform&,
                        const Options& options, const Context& context) {
  milp::MilpOptions limits;
  limits.symmetry = milp::symmetry_named(options.string("symmetry"));
  limits.solver = &milp::solver_named(options.string("solver"));
  limits.nodes = options.integer("nodes");
  limits.iterations = options.integer("iterations");
  Context bounded = context;
  bounded.bound = bound_of(graph, costs, context);
  milp::MilpResult found = milp::schedule_exactly(graph, costs, limits, bounded);
  if (found.bound && found.bound->ms > bounded.bound->ms) bounded.bound = found.bound;
  return complete(std::move(found.schedule),
                  found.optimal ? Outcome::kOptimal : outcome_of(found.timed_out), graph, costs,
                  options, bounded);
}

ScheduleResult run_milp_split(const Graph& graph, const CostModel& costs, const Platform&,
                              const Options& options, const Context& context) {
  split::SplitOptions limits;
  limits.solving.symmetry = milp::symmetry_named(options.string("symmetry"));
  limits.solving.solver = &milp::solver_named(options.string("solver"));
  limits.solving.nodes = options.integer("nodes");
  limits.solving.iterations = options.integer("iterations");
  limits.channels = static_cast<std::size_t>(options.integer("channels"));
  Context bounded = context;
  bounded.bound = bound_of(graph, costs, context);
  split::SplitResult found = split::schedule_by_modules(graph, costs, limits, bounded);
  if (found.bound && found.bound->ms > bounded.bound->ms) bounded.bound = found.bound;
  return complete(std::move(found.schedule),
                  found.optimal ? Outcome::kOptimal : outcome_of(found.timed_out), graph, costs,
                  options, bounded);
}

std::array<Algorithm, 19> table() {
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
       .run = run_inter_lp},
      {.name = "hios-lp",
       .description = "longest paths over devices, then stages on each (HIOS, Alg. 1 and 2)",
       .options = {specs.insertion, specs.any_paths, specs.subsets, specs.window},
       .run = run_hios_lp,
       .streams = true},
      {.name = "inter-mr",
       .description = "mapping recording over devices (HIOS, Alg. 3)",
       .options = {specs.subsets},
       .run = run_inter_mr},
      {.name = "hios-mr",
       .description = "mapping recording over devices, then stages on each (HIOS, Alg. 3 and 2)",
       .options = {specs.subsets, specs.window},
       .run = run_hios_mr,
       .streams = true},
      {.name = "heft",
       .description = "earliest finish by upward rank, in gaps too (HEFT), then stages on each",
       .options = {specs.least_ranks, specs.subsets, specs.window},
       .run = run_heft,
       .streams = true},
      {.name = "peft",
       .description = "earliest finish with a look ahead (PEFT), then stages on each",
       .options = {specs.subsets, specs.window},
       .run = run_peft,
       .streams = true},
      {.name = "cluster",
       .description = "clusters by expensive transfers (DSC) to devices, then stages on each",
       .options = {specs.subsets, specs.window},
       .run = run_cluster,
       .streams = true},
      {.name = "met",
       .description = "each operator on the device that is fastest for it (DiviML's baseline)",
       .options = {},
       .run = baseline("met", schedule_met)},
      {.name = "greedy",
       .description = "breadth first, each operator where it ends first (DiviML's baseline)",
       .options = {},
       .run = baseline("greedy", schedule_greedily)},
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
           "search over devices, order and stages, from sequential to cluster; until the bound or "
           "time",
       .options = {specs.iterations, specs.islands, specs.threads, specs.max_endings},
       .run = run_best,
       .streams = true,
       .improves = true,
       .run_throughput = pipeline::run_best,
       .contention = std::string(kKeepsContention)},
      {.name = "milp",
       .description = "the optimum of small problems by a linear program's solver, and its proof",
       .options = {specs.solver, specs.symmetry, specs.nodes, specs.start_moves},
       .run = run_milp,
       .streams = true,
       .exact = true,
       .contention = std::string(kOrdersTransfers)},
      {.name = "milp-split",
       .description = "modules by the same solver: the optimum of modules in a row (DiviML)",
       .options = {specs.solver, specs.symmetry, specs.nodes, specs.start_moves, specs.channels},
       .run = run_milp_split,
       .streams = true,
       .exact = true,
       .contention = std::string(kTakesShorterWithContention)},
      {.name = "slice-graph",
       .description = "orders of all operators cut into blocks, one a device (SliceGraph)",
       .options = {specs.order, specs.population, specs.generations},
       .run = pipeline::run_slice_graph,
       .objective = Objective::kThroughput,
       .constraints = std::string(kKeepsConstraintsInBlocks)},
  }};
}

/// Returns true if the name can be part of a list of names on a command line.
bool is_one_word(std::string_view name) {
  return !name.empty() && name.find_first_of(", \t\r\n") == std::string_view::npos;
}

}  // namespace

void Registry::add(Algorithm algorithm) {
  const std::string said = "an algorithm cannot be called " + quote(algorithm.name);
  if (!is_one_word(algorithm.name)) throw InputError(said + ": a name is a word without commas");
  if (algorithm.name == "all") throw InputError(said + ": that stands for all of them");
  const auto same = [&](const Algorithm& other) { return other.name == algorithm.name; };
  if (std::any_of(algorithms_.begin(), algorithms_.end(), same)) {
    throw InputError(said + ": there is one of that name");
  }
  if (!algorithm.run) throw InputError("algorithm " + algorithm.name + " has no function");
  const Options checked(algorithm.options);
  algorithms_.push_back(std::move(algorithm));
}

const Algorithm& Registry::find(std::string_view name) const {
  const auto found = std::find_if(algorithms_.begin(), algorithms_.end(),
                                  [name](const Algorithm& a) { return a.name == name; });
  if (found != algorithms_.end()) return *found;
  std::string names;
  for (const Algorithm& algorithm : algorithms_) {
    names += (names.empty() ? "" : ", ") + algorithm.name;
  }
  throw InputError("no algorithm is called " + std::string(name) + "; there are: " + names);
}

const Registry& built_in() {
  static const Registry registry = [] {
    Registry made;
    for (Algorithm& algorithm : table()) made.add(std::move(algorithm));
    return made;
  }();
  return registry;
}

}  // namespace hios::scheduler
