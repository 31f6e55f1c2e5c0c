#include "scheduler/cold/algorithms.h"

#include <optional>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "scheduler/cold/cold_start.h"
#include "scheduler/cold/deepplan/deepplan.h"
#include "scheduler/cold/pipelined.h"
#include "scheduler/cold/search/search.h"
#include "scheduler/cold/sortinghat/efficient_mip.h"
#include "scheduler/cold/sortinghat/sortinghat.h"
#include "scheduler/list/requirements.h"
#include "scheduler/option_specs.h"

namespace hios::scheduler {
namespace {

/// Returns the row of a scheduler that uses one device.
Algorithm of_one_device(std::string name, std::string description, std::vector<OptionSpec> options,
                        ScheduleFunction run) {
  return {.name = std::move(name),
          .description = std::move(description),
          .options = std::move(options),
          .run = std::move(run),
          .many_devices = false,
          .objective = Objective::kColdStart,
          .constraints = std::string(kWantsOneDevice),
          .contention = std::string(kMeetsNoContention)};
}

}  // namespace

std::vector<Algorithm> cold_start_algorithms() {
  const Specs specs;
  const OptionSpec split{"split", std::string("halves"), 0, 0,
                         "deepplan: parameters over the buses of two devices: halves (as "
                         "published), interleaved (in turns), or none"};
  return {
      of_one_device("load-then-run",
                    "a cold start of one device: all parameters, then the operators in order", {},
                    load_then_run),
      of_one_device("pipelined",
                    "a cold start of one device: parameters in the order of use, while it runs", {},
                    pipelined),
      of_one_device("deepplan",
                    "a cold start of one device: loads over two buses, reads in place against "
                    "stalls (DeepPlan)",
                    {split}, deepplan_schedule),
      {.name = "efficient-mip",
       .description = "sortinghat's submodels, each alone and with all parameters (EfficientMIP)",
       .options = {specs.solver, specs.nodes, specs.submodel_seconds, specs.subgraphs, specs.ndom,
                   specs.most_operators},
       .run = schedule_efficient_mip,
       .exact = true,
       .objective = Objective::kColdStart},
      {.name = "sortinghat",
       .description =
           "a cold start over devices and buses: submodels by linear programs (SortingHat)",
       .options = {specs.solver, specs.nodes, specs.submodel_seconds, specs.subgraphs, specs.ndom,
                   specs.most_operators, specs.lanes, specs.own_bus, specs.mean_speeds,
                   specs.contention},
       .run = schedule_sortinghat,
       .exact = true,
       .objective = Objective::kColdStart,
       .contention = std::string(kKeepsContention)}};
}

namespace cold {
namespace {

/// Schedules to start from, and the first refusal.
class Starts {
 public:
  Starts(const Problem& problem, const Context& context) : problem_(problem), half_(context) {
    half_.deadline = context.deadline.half();
    half_.progress = {};
  }

  void add(const Algorithm& algorithm, const Options& options) {
    add([&] {
      return schedule_cold_start(algorithm, problem_, options, half_, {0, "none"}).schedule;
    });
  }
  /// Adds sortinghat's greedy schedule, which needs no solver.
  void add_greedy(const Options& options) {
    add([&] { return greedy_submodels(problem_, options, half_); });
  }

  /// Throws the first refusal where there is no schedule.
  std::vector<Schedule> take() {
    if (schedules_.empty()) throw *refusal_;
    return std::move(schedules_);
  }

 private:
  template <class Make>
  void add(const Make& make) {
    try {
      schedules_.push_back(make());
    } catch (const InputError& error) {
      if (!refusal_) refusal_ = error;
    }
  }

  const Problem& problem_;
  Context half_;
  std::vector<Schedule> schedules_;
  std::optional<InputError> refusal_;
};

}  // namespace

std::vector<Schedule> start_schedules(const Problem& problem, const Context& context,
                                      std::span<const Algorithm> all) {
  Starts starts(problem, context);
  for (const Algorithm& algorithm : all) {
    if (algorithm.improves || algorithm.exact) continue;
    if (algorithm.objective == Objective::kThroughput) continue;
    starts.add(algorithm, Options(algorithm.options));
  }
  for (const Algorithm& algorithm : cold_start_algorithms()) {
    Options options(algorithm.options);
    if (algorithm.name == "sortinghat") starts.add_greedy(options);
    if (algorithm.name != "deepplan") continue;
    for (const char* split : {"split=none", "split=interleaved"}) {
      options.set(split);
      starts.add(algorithm, options);
    }
  }
  return starts.take();
}

ScheduleResult run_best(const Problem& problem, const Options& options, const Context& context,
                        std::span<const Algorithm> all) {
  require_placeable(problem.graph(), problem.costs(), "best");
  SearchOptions limits;
  limits.iterations = options.integer("iterations");
  limits.islands = static_cast<std::size_t>(options.integer("islands"));
  limits.threads = static_cast<std::size_t>(options.integer("threads"));
  const double bound_ms = context.bound ? context.bound->ms : 0;
  SearchResult found =
      search(problem.costs(), start_schedules(problem, context, all), limits, bound_ms, context);
  const Outcome unproven = found.timed_out ? Outcome::kTimeLimit : Outcome::kFeasible;
  return complete(std::move(found.schedule), found.optimal ? Outcome::kOptimal : unproven, problem,
                  options, context);
}

}  // namespace cold
}  // namespace hios::scheduler
