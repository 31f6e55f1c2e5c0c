#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/schedule/inputs/schedule_inputs.h"
#include "hios/base/json/json.h"
#include "hios/report/why.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/compare/row.h"

/// The reasons for the latency of a plan, for hios-schedule.
namespace hios::cli {

/// A Why with the graph of its schedule.
struct PlanWhy {
  Why why;
  const Graph* graph = nullptr;
  std::string text() const;
  Json json() const;
};

/// Returns the reasons for a valid schedule's latency. The graph outlives the result.
PlanWhy why_of(const std::string& algorithm, const Graph& graph, const CostModel& costs,
               const Schedule& schedule, const scheduler::LowerBound& bound,
               const ScheduleInputs& inputs);

/// Returns the reasons for the shortest of the schedules, the first among equals; nothing where
/// schedules are for throughput, or all algorithms refused the problem. The rows outlive it.
std::optional<PlanWhy> why_of_shortest(const std::vector<scheduler::Row>& rows,
                                       const ScheduleInputs& inputs);

}  // namespace hios::cli
