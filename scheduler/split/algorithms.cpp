#include "scheduler/split/algorithms.h"

#include <utility>

#include "scheduler/milp/milp.h"
#include "scheduler/split/split.h"

namespace hios::scheduler::split {
namespace {

milp::MilpOptions milp_options(const Options& options) {
  milp::MilpOptions limits;
  limits.symmetry = milp::symmetry_named(options.string("symmetry"));
  limits.solver = &milp::solver_named(options.string("solver"));
  limits.nodes = options.integer("nodes");
  limits.iterations = options.integer("iterations");
  return limits;
}

/// Returns the context with the bound that it lacks.
Context bounded(const Context& context, const Problem& problem) {
  Context result = context;
  result.bound = bound_of(problem.graph(), problem.costs(), context);
  return result;
}

/// Returns the result of a solver, which may have proved a larger bound than the context's.
template <class Result>
ScheduleResult complete_exact(Result found, const Problem& problem, const Options& options,
                              Context context) {
  if (found.bound && found.bound->ms > context.bound->ms) context.bound = found.bound;
  const Outcome outcome = found.optimal     ? Outcome::kOptimal
                          : found.timed_out ? Outcome::kTimeLimit
                                            : Outcome::kFeasible;
  return complete(std::move(found.schedule), outcome, problem, options, context);
}

}  // namespace

ScheduleResult run_milp(const Problem& problem, const Options& options, const Context& context) {
  const milp::MilpOptions limits = milp_options(options);
  const Context known = bounded(context, problem);
  return complete_exact(milp::schedule_exactly(problem.graph(), problem.costs(), limits, known),
                        problem, options, known);
}

ScheduleResult run_milp_split(const Problem& problem, const Options& options,
                              const Context& context) {
  SplitOptions limits;
  limits.solving = milp_options(options);
  limits.channels = static_cast<std::size_t>(options.integer("channels"));
  limits.division = division_named(options.string("modules"));
  const Context known = bounded(context, problem);
  SplitResult found = schedule_by_modules(problem.graph(), problem.costs(), limits, known);
  std::string warning = std::move(found.warning);
  ScheduleResult result = complete_exact(std::move(found), problem, options, known);
  result.warning = std::move(warning);
  return result;
}

}  // namespace hios::scheduler::split
