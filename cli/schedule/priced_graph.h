#pragma once

#include <functional>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/batches.h"
#include "hios/graph/graph.h"

namespace hios::cli {

/// Returns the graph with the costs of a cost model, so that it can be scheduled without a profile:
/// times on the platform's devices and the mean transfer between two of them. Stages of several
/// groups follow the graph's own rule, since a graph file holds no measured stages.
Graph priced_graph(const CostModel& costs);
/// Returns the graph with times for every number of inputs at a time. A transfer is of all inputs;
/// some of them take their share. Throws InputError where `price` does.
Graph priced_graph(const SizedGraphs& graphs, const std::function<CostModel(const Graph&)>& price);

}  // namespace hios::cli
