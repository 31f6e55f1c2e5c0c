#include "scheduler/scheduler.h"

#include <utility>

#include "hios/evaluate/simulate.h"
#include "scheduler/bounds/unlimited_costs.h"

namespace hios::scheduler {
namespace {

LowerBound bound_of_problem(const Problem& problem, const Context& context) {
  if (context.bound || problem.objective() != Objective::kColdStart) {
    return bound_of(problem.graph(), problem.costs(), context);
  }
  const UnlimitedCosts unlimited(problem.costs());
  return lower_bound(problem.graph(), unlimited.costs());
}

}  // namespace

ScheduleResult complete(Schedule schedule, Outcome outcome, const Problem& problem,
                        const Options& options, const Context& context) {
  ScheduleResult result;
  const Timeline timeline = simulate(problem.graph(), schedule, problem.costs());
  result.schedule = std::move(schedule);
  result.options = options;
  result.outcome = outcome;
  result.latency_ms = timeline.latency_ms;
  result.estimated_stages = timeline.estimated_stages;
  LowerBound bound = snap_to_latency(bound_of_problem(problem, context), result.latency_ms);
  result.lower_bound_ms = bound.ms;
  result.bound = std::move(bound.name);
  // Proofs of several devices do not know that messages share buses, and searches that stop at a
  // bound do not know that receivers copy or that messages have ranges; a bound that is reached
  // does.
  const bool shares_buses = problem.platform().topology() && !timeline.transfers.empty();
  const bool unaware =
      shares_buses || problem.costs().charges_receivers() || problem.costs().sends_ranges();
  if (unaware && outcome == Outcome::kOptimal && result.latency_ms > result.lower_bound_ms) {
    result.outcome = Outcome::kFeasible;
  }
  return result;
}

LowerBound bound_of(const Graph& graph, const CostModel& costs, const Context& context) {
  return context.bound ? *context.bound : lower_bound(graph, costs);
}

Schedule on_one_device(const Platform& platform, DeviceId device, std::vector<Stage> stages) {
  Schedule schedule;
  schedule.devices.resize(platform.size());
  schedule.devices[device.index()] = std::move(stages);
  return schedule;
}

}  // namespace hios::scheduler
