#pragma once

#include <functional>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/batches.h"
#include "hios/graph/graph.h"

namespace hios::cli {

/// Returns the model's graph with its costs written into it, so that it can be scheduled without a
/// profile: times on the platform's devices and the mean transfer between two of them. Stages of
/// several groups follow the graph's own rule: a file holds no measured stages.
Graph graph_with_costs(const CostModel& costs);
/// Returns the same with times for every number of inputs at a time. Transfers are of all inputs; a
/// part of the inputs takes its share. Throws InputError where `costs_of` does.
Graph graph_with_costs(const SizedGraphs& graphs,
                       const std::function<CostModel(const Graph&)>& costs_of);

}  // namespace hios::cli
