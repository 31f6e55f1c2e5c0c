#include "scheduler/split/split.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/best/best.h"
#include "scheduler/split/diagram/gap_closer.h"
#include "scheduler/split/independent.h"
#include "scheduler/split/modules/chain.h"
#include "scheduler/split/modules/module_bounds.h"
#include "scheduler/split/modules/modules.h"
#include "scheduler/split/modules/prove.h"
#include "scheduler/split/neighbourhoods.h"
#include "scheduler/split/whole_graph.h"
#include "scheduler/structures/run_all.h"

namespace hios::scheduler::split {
namespace {

constexpr std::int64_t kMovesOfSubproblem = 2000;  // moves of the search before a proof
constexpr double kShareOfStart = 0.15;             // share of the time, at most
constexpr double kShareOfChain = 0.6;              // share of the rest
constexpr double kShareOfNeighbourhoods = 0.6;     // share of the rest
constexpr double kShareOfClosing = 0.7;            // share of that, before modules are bounded
constexpr std::size_t kRounds = 3;                 // rounds of GapCloser without a time limit

class Split {
 public:
  Split(const Graph& graph, const CostModel& costs, const SplitOptions& options,
        const Context& context)
      : graph_(graph), costs_(costs), options_(options), context_(context) {
    subproblem_options_ = options.solving;
    subproblem_options_.iterations = kMovesOfSubproblem;
  }

  SplitResult run() {
    find_start();
    const std::vector<Module> modules = modules_of(graph_);
    const bool by_components = options_.division == Division::kComponents && modules.size() == 1;
    if (!result_.optimal && !by_components) try_chain(modules);
    const bool ended = result_.optimal || shortest_one_by_one_;
    const bool as_printed = options_.division == Division::kComponents;
    if (!ended && by_components) take_components();
    if (!ended && !as_printed && !context_.deadline.expired()) try_neighbourhoods();
    if (!ended && !as_printed && !result_.optimal && !context_.deadline.expired())
      try_whole_graph();
    result_.timed_out = !result_.optimal && context_.deadline.expired();
    return std::move(result_);
  }

 private:
  void find_start() {
    best::BestOptions moves;
    moves.starts_take_half = false;  // the deadline is a share already
    moves.iterations = options_.solving.iterations;
    Context limited = context_;
    limited.deadline = context_.deadline.share(kShareOfStart);
    const double bound_ms = bound_of(graph_, costs_, context_).ms;
    best::BestResult found = best::search(graph_, costs_, moves, bound_ms, limited);
    result_.schedule = std::move(found.schedule);
    result_ms_ = found.latency_ms;
    result_.optimal = result_ms_ <= bound_ms;
  }

  void try_chain(const std::vector<Module>& modules) {
    if (modules.size() == 1 && graph_.size() > Prover::kMaxSolved) return;
    Context limited = context_;
    limited.deadline = context_.deadline.share(kShareOfChain);
    Prover prover(subproblem_options_, limited);
    ChainResult chain = shortest_chain(costs_, modules, result_ms_, prover, limited);
    if (chain.schedule) keep(std::move(*chain.schedule));
    raise_bound(chain.bound_ms);
    shortest_one_by_one_ = result_ms_ <= chain.bound_ms * (1 + 4 * milp::kTolerance);
    result_.optimal = shortest_one_by_one_ && !milp::stages_can_gain(graph_, costs_);
  }

  /// Takes the schedule of DiviML's modules, also if it is longer than the present one.
  void take_components() {
    Prover prover(subproblem_options_, context_);
    auto schedule = schedule_independently(costs_, options_.channels, prover);
    if (!schedule) {
      result_.warning =
          "milp-split: the modules have no schedules that are valid together, since memory limits "
          "or labels tie them, so this is the schedule of a short `best`; modules=windows keeps "
          "both";
      return;
    }
    result_.schedule = std::move(*schedule);
    result_ms_ = simulate(graph_, result_.schedule, costs_).latency_ms;
  }

  /// Improves the schedule and the bound in parallel: neither depends on the other.
  void try_neighbourhoods() {
    Schedule improved = milp::one_by_one(result_.schedule);
    double bound_ms = 0;
    if (!milp::stages_can_gain(graph_, costs_)) {
      closer_.emplace(costs_, result_.bound ? result_.bound->ms : 0, result_ms_);
    }
    Context limited = context_;
    limited.deadline = context_.deadline.share(kShareOfNeighbourhoods);
    limited.progress = {};
    run_all(closer_ ? 2 : 1, 2, [&](std::size_t i) {
      if (i == 0) {
        improved = improve_by_neighbourhoods(costs_, std::move(improved), options_, limited);
        return;
      }
      run_closer(kShareOfClosing, limited);
      if (closer_->closed()) return;
      Prover prover(subproblem_options_, limited);
      bound_ms = module_bound_ms(costs_, options_.channels, prover);
    });
    keep(std::move(improved));
    take_closer();
    raise_bound(bound_ms);
    find_optimal();
  }

  void run_closer(double share, const Context& context) {
    closer_->update_incumbent(result_ms_);
    Context limited = context;
    limited.deadline = context.deadline.share(share);
    closer_->run(context.deadline.has_time_limit() ? GapCloser::kMaxRounds : kRounds, limited);
  }

  void take_closer() {
    if (!closer_) return;
    if (closer_->schedule()) keep(*closer_->schedule());
    raise_bound(closer_->bound_ms(), "diagram");
  }

  /// Solves the graph as one program, in parallel with GapCloser from the present schedule.
  void try_whole_graph() {
    WholeGraphResult whole;
    run_all(closer_ ? 2 : 1, 2, [&](std::size_t i) {
      if (i == 0) {
        whole = solve_whole_graph(costs_, milp::one_by_one(result_.schedule), options_.solving,
                                  context_);
      } else {
        run_closer(1, context_);
      }
    });
    if (whole.schedule) keep(std::move(*whole.schedule));
    take_closer();
    const milp::Solver& solver = *options_.solving.solver;
    raise_bound(whole.bound_ms, "milp by " + solver.name + " " + solver.version);
    find_optimal();
  }

  /// Updates `optimal`; a solver's bound may be below the optimum by its tolerance.
  void find_optimal() {
    result_.optimal = result_.bound && result_ms_ <= result_.bound->ms * (1 + 4 * milp::kTolerance);
  }

  /// Takes a schedule if it is valid and shorter than the present one.
  void keep(Schedule schedule) {
    if (!validate(graph_, costs_.platform(), schedule).empty()) return;
    const double latency_ms = simulate(graph_, schedule, costs_).latency_ms;
    if (latency_ms >= result_ms_) return;
    result_.schedule = std::move(schedule);
    result_ms_ = latency_ms;
  }

  void raise_bound(double ms, const std::string& name = "modules") {
    if (milp::stages_can_gain(graph_, costs_)) return;
    ms = std::min(ms * (1 - milp::kTolerance), result_ms_);
    if (!result_.bound || result_.bound->ms < ms) result_.bound = LowerBound{ms, name};
  }

  const Graph& graph_;
  const CostModel& costs_;
  const SplitOptions& options_;
  const Context& context_;
  milp::MilpOptions subproblem_options_;
  SplitResult result_;
  double result_ms_ = 0;
  std::optional<GapCloser> closer_;   ///< where bounds count and optimality is not proved yet
  bool shortest_one_by_one_ = false;  ///< optimal among schedules of one operator a stage
};

}  // namespace

Division division_named(const std::string& name) {
  if (name == "windows") return Division::kWindows;
  if (name == "components") return Division::kComponents;
  throw InputError("milp-split: there are no modules " + quote(name) +
                   "; there are: windows, components");
}

SplitResult schedule_by_modules(const Graph& graph, const CostModel& costs,
                                const SplitOptions& options, const Context& context) {
  if (graph.size() == 0)
    return {Schedule{{costs.platform().size(), std::vector<Stage>{}}}, true, false, {}};
  return Split(graph, costs, options, context).run();
}

}  // namespace hios::scheduler::split
