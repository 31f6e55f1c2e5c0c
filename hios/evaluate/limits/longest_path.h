#pragma once

#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios {

/// A path through a graph, and the sum of its operators' times.
struct OperatorPath {
  std::vector<OpId> operators;
  double ms = 0;  ///< transfers take no time on it
};

/// Returns a path whose operators take longest together, of several such paths the same one in
/// every call. Empty for a graph without operators. Linear in operators and edges. REQUIRES: a
/// finite time of at least 0 for each operator.
OperatorPath longest_path(const Graph& graph, std::span<const double> operator_ms);

/// Returns the time of each operator on the device that takes least.
std::vector<double> least_operator_ms(const CostModel& costs);

/// Returns up to `most` of the operators, those that take longest, in the order in which they are
/// given.
std::vector<OpId> longest_operators(std::span<const OpId> operators,
                                    std::span<const double> operator_ms, std::size_t most);

}  // namespace hios
