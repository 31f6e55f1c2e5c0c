#include "scheduler/split/split.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/best/best.h"
#include "scheduler/split/diagram/gap_closer.h"
#include "scheduler/split/modules/chain.h"
#include "scheduler/split/modules/module_bounds.h"
#include "scheduler/split/modules/modules.h"
#include "scheduler/split/modules/prove.h"
#include "scheduler/split/whole.h"
#include "scheduler/split/windows.h"
#include "scheduler/structures/run_all.h"

namespace hios::scheduler::split {
namespace {

constexpr std::int64_t kMovesOfParts = 2000;  // of the search that a part's proof starts from
constexpr double kShareOfStart = 0.15;        // of the time, at most
constexpr double kShareOfChain = 0.6;         // of what is left then
constexpr double kShareOfParts = 0.6;         // of what is left then
constexpr double kShareOfClosing = 0.7;       // of that, before parts are bounded
constexpr std::size_t kRounds = 3;            // of Closer, where no time is limited

class Split {
 public:
  Split(const Graph& graph, const CostModel& costs, const SplitOptions& options,
        const Context& context)
      : graph_(graph), costs_(costs), options_(options), context_(context) {
    parts_ = options.solving;
    parts_.iterations = kMovesOfParts;
  }

  SplitResult run() {
    begin();
    if (!result_.optimal) try_chain();
    const bool ended = result_.optimal || shortest_apart_;
    if (!ended && !context_.deadline.expired()) try_windows();
    if (!ended && !result_.optimal && !context_.deadline.expired()) try_whole();
    result_.timed_out = !result_.optimal && context_.deadline.expired();
    return std::move(result_);
  }

 private:
  void begin() {
    best::BestOptions moves;
    moves.iterations = options_.solving.iterations;
    Context part = context_;
    part.deadline = context_.deadline.share(kShareOfStart);
    const double bound_ms = bound_of(graph_, costs_, context_).ms;
    best::BestResult found = best::search(graph_, costs_, moves, bound_ms, part);
    result_.schedule = std::move(found.schedule);
    result_ms_ = found.latency_ms;
    result_.optimal = result_ms_ <= bound_ms;
  }

  void try_chain() {
    const std::vector<Module> modules = modules_of(graph_);
    if (modules.size() == 1 && graph_.size() > Prover::kMostSolved) return;
    Context part = context_;
    part.deadline = context_.deadline.share(kShareOfChain);
    Prover prover(parts_, part);
    ChainResult chain = shortest_chain(costs_, modules, result_ms_, prover, part);
    if (chain.schedule) keep(std::move(*chain.schedule));
    raise_bound(chain.bound_ms);
    shortest_apart_ = result_ms_ <= chain.bound_ms * (1 + 4 * milp::kTolerance);
    result_.optimal = shortest_apart_ && !milp::stages_can_gain(graph_, costs_);
  }

  /// The schedule and the bound side by side: neither needs the other.
  void try_windows() {
    Schedule improved = milp::one_by_one(result_.schedule);
    double bound_ms = 0;
    if (!milp::stages_can_gain(graph_, costs_)) {
      closer_.emplace(costs_, result_.bound ? result_.bound->ms : 0, result_ms_);
    }
    Context part = context_;
    part.deadline = context_.deadline.share(kShareOfParts);
    part.progress = {};
    run_all(closer_ ? 2 : 1, 2, [&](std::size_t i) {
      if (i == 0) {
        improved = improve(costs_, std::move(improved), options_, part);
        return;
      }
      run_closer(kShareOfClosing, part);
      if (closer_->closed()) return;
      Prover prover(parts_, part);
      bound_ms = part_bound_ms(costs_, options_.channels, prover);
    });
    keep(std::move(improved));
    take_closer();
    raise_bound(bound_ms);
    find_optimal();
  }

  void run_closer(double share, const Context& context) {
    closer_->know(result_ms_);
    Context part = context;
    part.deadline = context.deadline.share(share);
    closer_->run(context.deadline.has_time_limit() ? Closer::kMostRounds : kRounds, part);
  }

  void take_closer() {
    if (!closer_) return;
    if (closer_->schedule()) keep(*closer_->schedule());
    raise_bound(closer_->bound_ms(), "begun");
  }

  /// As one program, and side by side again from the schedule that there is now.
  void try_whole() {
    WholeResult whole;
    run_all(closer_ ? 2 : 1, 2, [&](std::size_t i) {
      if (i == 0) {
        whole = solve_whole(costs_, milp::one_by_one(result_.schedule), options_.solving, context_);
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

  /// A bound is below the optimum by what solvers leave.
  void find_optimal() {
    result_.optimal = result_.bound && result_ms_ <= result_.bound->ms * (1 + 4 * milp::kTolerance);
  }

  /// A schedule, if it is valid and shorter than what there is.
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
  milp::MilpOptions parts_;
  SplitResult result_;
  double result_ms_ = 0;
  std::optional<Closer> closer_;  ///< where bounds count, and all is not proved already
  bool shortest_apart_ = false;   ///< of schedules of one operator a stage
};

}  // namespace

SplitResult schedule_in_parts(const Graph& graph, const CostModel& costs,
                              const SplitOptions& options, const Context& context) {
  if (graph.size() == 0)
    return {Schedule{{costs.platform().size(), std::vector<Stage>{}}}, true, false, {}};
  return Split(graph, costs, options, context).run();
}

}  // namespace hios::scheduler::split
