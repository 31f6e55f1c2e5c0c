#include "scheduler/cold/sortinghat/sortinghat.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "scheduler/cold/pipelined.h"
#include "scheduler/cold/sortinghat/paths.h"
#include "scheduler/cold/sortinghat/planned_submodels.h"
#include "scheduler/cold/sortinghat/submodel/submodel_solver.h"
#include "scheduler/cold/sortinghat/submodels.h"
#include "scheduler/structures/numbers.h"

// Submodels in order (submodels.cpp): each is a problem of its own (submodel_problem.h), solved by
// a greedy assignment, then by the MILP from there (submodel_program.cpp), and fixed
// (planned_submodels.cpp). The MILP's own time is one of its model: subgraphs that wait for all
// they need, buses that serve one device at a time, copies inside subgraphs. simulate() judges the
// result, in the MILP's round-robin order of loads and in the order of use, whichever is shorter.
//
// Tests: tests/scheduler/cold/sortinghat/

namespace hios::scheduler::sortinghat {
namespace {

std::string in_ms(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f ms", ms);
  return text;
}

class SortingHat {
 public:
  SortingHat(const Problem& problem, const Options& options, const Context& context)
      : problem_(problem),
        graph_(problem.graph()),
        options_(options),
        context_(context),
        half_(context.deadline.half()),
        paths_(graph_, problem.costs(),
               {options.boolean("own_bus"), options.boolean("mean_speeds"),
                options.string("contention") == "paper"}) {}

  ScheduleResult run() {
    const SubmodelSolver solver(options_, context_);
    Schedule schedule = shortest(&solver);
    const bool timed_out = context_.deadline.expired();
    return complete(std::move(schedule), timed_out ? Outcome::kTimeLimit : Outcome::kFeasible,
                    problem_, options_, context_);
  }

  /// Returns the shortest schedule; without a solver, of the greedy one and that of `pipelined`.
  Schedule shortest(const SubmodelSolver* solver) {
    const SubmodelLimits limits{static_cast<std::size_t>(options_.integer("ndom")),
                                static_cast<std::size_t>(options_.integer("most_operators"))};
    const std::vector<std::vector<OpId>> parts = submodels(graph_, limits);
    consider_pipelined();
    try {
      plan(parts, nullptr);
      if (solver && !is_late()) plan(parts, solver);
    } catch (const InputError& refusal) {
      refusal_ = refusal;
    }
    if (!shortest_) throw *refusal_;
    return std::move(*shortest_);
  }

 private:
  /// Returns true once the time is over and there is some schedule.
  bool is_late() const { return shortest_ && context_.deadline.expired(); }

  void report(const std::string& line) const {
    if (context_.progress) context_.progress(line);
  }

  /// Plans all submodels, greedily or by the MILP, and considers the schedules.
  void plan(const std::vector<std::vector<OpId>>& parts, const SubmodelSolver* solver) {
    PlannedSubmodels planned(graph_, problem_.costs(), paths_,
                             static_cast<std::size_t>(options_.integer("q")));
    std::size_t proved = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!solver && is_late()) return;
      const SubmodelProblem next = planned.next(parts[i]);
      auto found = SubmodelSolver::greedy(next, half_);
      if (!found) refuse(parts[i].front());
      if (solver) {
        report("submodel " + std::to_string(i + 1) + " of " + std::to_string(parts.size()));
        solver->improve(*found, next, parts.size() - i);
        proved += found->proved;
      }
      planned.fix(next, found->assignment, found->times);
    }
    const std::string& lanes = options_.string("lanes");
    double least_ms = kInfinity;
    if (lanes != "use") least_ms = consider(planned.schedule(LaneOrder::kRoundRobin));
    if (lanes != "round-robin") {
      least_ms = std::min(least_ms, consider(planned.schedule(LaneOrder::kUse)));
    }
    report((solver ? "the programs predict " : "greedily, the programs' model predicts ") +
           in_ms(planned.latency_ms()) + ", simulated " + in_ms(least_ms) +
           (solver ? "; " + std::to_string(proved) + " of " + std::to_string(parts.size()) +
                         " submodels proved"
                   : ""));
  }

  double consider(Schedule schedule) {
    const double ms = simulate(graph_, schedule, problem_.costs()).latency_ms;
    if (shortest_ && ms >= least_ms_) return ms;
    shortest_ = std::move(schedule);
    least_ms_ = ms;
    return ms;
  }

  void consider_pipelined() {
    try {
      consider(pipelined(problem_, {}, context_).schedule);
    } catch (const InputError& refusal) {
      if (!refusal_) refusal_ = refusal;
    }
  }

  [[noreturn]] void refuse(OpId op) const {
    throw InputError(
        "sortinghat: no device is left for the submodel of '" + printable(graph_.op(op).name) +
        "', whose operators and parameters need a route from a store, and room next to "
        "those of earlier submodels; give devices more memory, or take another "
        "algorithm");
  }

  const Problem& problem_;
  const Graph& graph_;
  const Options& options_;
  const Context& context_;
  const Deadline half_;  ///< of the greedy search
  const Paths paths_;
  std::optional<Schedule> shortest_;
  std::optional<InputError> refusal_;  // why there is no schedule
  double least_ms_ = kInfinity;
};

void check_words(const Options& options) {
  const std::string& lanes = options.string("lanes");
  if (lanes != "shorter" && lanes != "round-robin" && lanes != "use") {
    throw InputError("sortinghat: lanes is " + quote(lanes) +
                     "; it can be shorter, round-robin or use");
  }
  const std::string& contention = options.string("contention");
  if (contention != "none" && contention != "paper") {
    throw InputError("sortinghat: contention is " + quote(contention) +
                     "; it can be none or paper");
  }
}

}  // namespace
}  // namespace hios::scheduler::sortinghat

namespace hios::scheduler {

ScheduleResult schedule_sortinghat(const Problem& problem, const Options& options,
                                   const Context& context) {
  sortinghat::require_solvable(problem, options, "sortinghat");
  sortinghat::check_words(options);
  return sortinghat::SortingHat(problem, options, context).run();
}

Schedule greedy_submodels(const Problem& problem, const Options& options, const Context& context) {
  sortinghat::require_submodels(problem, options, "sortinghat");
  return sortinghat::SortingHat(problem, options, context).shortest(nullptr);
}

}  // namespace hios::scheduler
