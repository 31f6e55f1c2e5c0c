#include "scheduler/cold/cold_start.h"

#include "hios/evaluate/simulate.h"
#include "scheduler/cold/loads.h"

namespace hios::scheduler {
namespace {

/// Returns the schedule with a lane a device, or with lanes that devices share if that is shorter.
Schedule completed(const Schedule& warm, const Problem& problem) {
  const Graph& graph = problem.graph();
  Schedule own = with_loads(warm, graph, problem.platform());
  if (own.weights->lanes.size() < 2) return own;
  Schedule shared = with_shared_lanes(warm, graph, problem.costs());
  const double own_ms = simulate(graph, own, problem.costs()).latency_ms;
  const double shared_ms = simulate(graph, shared, problem.costs()).latency_ms;
  return shared_ms < own_ms ? shared : own;
}

}  // namespace

ScheduleResult schedule_cold_start(const Algorithm& algorithm, const Problem& problem,
                                   const Options& options, const Context& context,
                                   const LowerBound& resident_bound) {
  if (algorithm.objective == Objective::kColdStart) return algorithm.run(problem, options, context);
  if (algorithm.run_cold_start) return algorithm.run_cold_start(problem, options, context);
  const Problem resident(problem.costs(), Objective::kLatency, problem.inputs());
  Context of_resident = context;
  of_resident.bound = resident_bound;
  ScheduleResult warm = algorithm.run(resident, options, of_resident);
  // Optimal with all parameters on the devices says nothing of a cold start.
  const Outcome outcome = warm.outcome == Outcome::kOptimal ? Outcome::kFeasible : warm.outcome;
  return complete(completed(warm.schedule, problem), outcome, problem, warm.options, context);
}

}  // namespace hios::scheduler
