#include "cli/schedule/why_plan.h"

#include <array>
#include <nlohmann/json.hpp>

#include "cli/process/output.h"
#include "hios/evaluate/simulate.h"
#include "scheduler/compare/gains.h"

namespace hios::cli {
namespace {

constexpr std::array<std::size_t, 2> kDevicesOfGains = {2, 4};

}  // namespace

std::string PlanWhy::text() const { return why_text(why, *graph, line_width()); }

Json PlanWhy::json() const { return to_json(why, *graph); }

PlanWhy why_of(const std::string& algorithm, const Graph& graph, const CostModel& costs,
               const Schedule& schedule, const scheduler::LowerBound& bound,
               const ScheduleInputs& inputs) {
  Why why;
  why.algorithm = algorithm;
  const Platform& platform = costs.platform();
  for (const Device& device : platform.devices()) why.devices.push_back(device.name);
  const Timeline timeline = simulate(graph, schedule, costs);
  why.operator_ms = least_operator_ms(costs);
  why.times = device_times(graph, schedule, timeline, costs);
  why.latency_ms = timeline.latency_ms;
  why.limits =
      limits_of({&graph, &schedule, &timeline, why.times, &costs}, why.operator_ms, bound.name);
  why.bound_ms = bound.ms;
  why.bound = bound.name;
  why.proven = bound.ms > 0 && timeline.latency_ms <= (1 + kNearBound) * bound.ms;
  // More devices bring more routes, of which the gains of a resident network know nothing.
  if (!schedule.weights) why.gains = scheduler::gains_of(costs, kDevicesOfGains, bound);
  if (inputs.profile()) why.threads = more_threads(graph, platform, *inputs.profile());
  return {std::move(why), &graph};
}

std::optional<PlanWhy> why_of_shortest(const std::vector<scheduler::Row>& rows,
                                       const ScheduleInputs& inputs) {
  const scheduler::Row* best = nullptr;
  for (const scheduler::Row& row : rows) {
    if (row.many || row.objective == Objective::kThroughput) return {};
    if (row.refusal || !row.graph) continue;
    if (!best || row.predicted.latency_ms < best->predicted.latency_ms) best = &row;
  }
  if (!best) return {};
  return why_of(best->algorithm, *best->graph, *best->costs, best->schedule,
                {best->predicted.lower_bound_ms, best->predicted.bound}, inputs);
}

}  // namespace hios::cli
