#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/batches.h"
#include "hios/schedule/schedule.h"
#include "scheduler/problem.h"

/// Many inputs that are available together: the schedule also decides which operator runs which of
/// them at a time (Ghannane and Abdelfattah, "DiviML", section III). A division of the inputs is a
/// graph (hios/graph/batches.h), so every scheduler can plan it; this room decides between
/// divisions.
namespace hios::scheduler {

/// A graph that divides inputs, with its costs. Copies share them.
struct Division {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const CostModel> costs;  ///< refers to the graph
};

/// Throws InputError as divide() and make_costs() do, and if an operator can run on no device.
Division make_division(const DivisibleProblem& problem, std::vector<Batch> batches);

/// A schedule without a graph: device, stage, group, batches in order.
using BatchStages = std::vector<std::vector<std::vector<std::vector<Batch>>>>;

/// Returns the batches that the schedule's vertices run.
BatchStages batch_stages(const Graph& divided, const Schedule& schedule);

/// A schedule of a division, timed by simulate().
struct TimedDivision {
  Division division;
  Schedule schedule;
  double latency_ms = 0;
};

/// Returns the division and schedule of these stages, or nothing if they violate a rule of
/// schedules or lack a cost.
std::optional<TimedDivision> timed(const DivisibleProblem& problem, const BatchStages& stages);

}  // namespace hios::scheduler
