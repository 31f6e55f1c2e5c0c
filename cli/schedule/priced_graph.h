#pragma once

#include <functional>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/batches.h"
#include "hios/graph/graph.h"

namespace hios::cli {

/// The graph with the costs that a model of it says, so that it can be scheduled without a profile:
/// times on the platform's devices and the mean transfer between two of them. Stages of several
/// groups fall back to the graph's own rule: a file holds no measured stages.
Graph priced_graph(const CostModel& costs);
/// The same with times for every number of inputs at a time; transfers are of all inputs, of which
/// some take their share. Throws InputError where `price` does.
Graph priced_graph(const SizedGraphs& graphs, const std::function<CostModel(const Graph&)>& price);

}  // namespace hios::cli
