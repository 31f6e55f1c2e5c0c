#include "scheduler/cold/cold_start.h"

#include <utility>

#include "scheduler/cold/loads.h"

namespace hios::scheduler {

ScheduleResult schedule_cold_start(const Algorithm& algorithm, const Problem& problem,
                                   const Options& options, const Context& context,
                                   const LowerBound& resident_bound) {
  if (algorithm.objective == Objective::kColdStart) return algorithm.run(problem, options, context);
  const Problem resident(problem.costs(), Objective::kLatency, problem.inputs());
  Context of_resident = context;
  of_resident.bound = resident_bound;
  ScheduleResult warm = algorithm.run(resident, options, of_resident);
  // Optimal with all parameters on the devices says nothing of a cold start.
  const Outcome outcome = warm.outcome == Outcome::kOptimal ? Outcome::kFeasible : warm.outcome;
  return complete(with_loads(std::move(warm.schedule), problem.graph(), problem.platform()),
                  outcome, problem, warm.options, context);
}

}  // namespace hios::scheduler
