#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/batches.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

/// Many inputs that are there together: which operator runs which of them at a time is decided,
/// too (Ghannane and Abdelfattah, "DiviML", section III). A division of the inputs is a graph
/// (hios/graph/batches.h), so that every scheduler plans it; what is here decides between
/// divisions.
namespace hios::scheduler {

/// What is to be scheduled. The values outlive it.
struct DivisibleProblem {
  const SizedGraphs* graphs = nullptr;
  const Platform* platform = nullptr;
  /// Costs of a graph that divide() made, which outlives them. Throws InputError where some lack.
  std::function<CostModel(const Graph&)> price;
};

/// A graph that divides inputs, with its costs. Copies share.
struct Division {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const CostModel> costs;  ///< refer to the graph
};

/// Throws InputError as divide() and price() do, and where an operator can run on no device.
Division make_division(const DivisibleProblem& problem, std::vector<Batch> batches);

/// A schedule without a graph: device, stage, group, batches in order.
using BatchStages = std::vector<std::vector<std::vector<std::vector<Batch>>>>;

/// By what each vertex runs.
BatchStages batch_stages(const Graph& divided, const Schedule& schedule);

/// A schedule of a division, timed by simulate().
struct TimedDivision {
  Division division;
  Schedule schedule;
  double latency_ms = 0;
};

/// The division and schedule that these stages are; nothing where they break a rule of schedules,
/// or lack a cost.
std::optional<TimedDivision> timed(const DivisibleProblem& problem, const BatchStages& stages);

}  // namespace hios::scheduler
