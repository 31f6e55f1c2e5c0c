// The usual pass in topological order: the longest path that ends in an operator is the longest one
// that ends in a producer, and the operator. Tests: tests/hios/evaluate/limits/ compare it with the
// enumeration of all paths.
#include "hios/evaluate/limits/longest_path.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace hios {

OperatorPath longest_path(const Graph& graph, std::span<const double> operator_ms) {
  std::vector<double> until_ms(graph.size(), 0);
  std::vector<std::optional<OpId>> before(graph.size());
  OperatorPath path;
  std::optional<OpId> last;
  for (const OpId op : graph.topological()) {
    double begin_ms = 0;
    for (const EdgeId edge : graph.in_edges(op)) {
      const OpId producer = graph.edge(edge).from;
      const double end_ms = until_ms[producer.index()];
      if (before[op.index()] && end_ms <= begin_ms) continue;
      before[op.index()] = producer;
      begin_ms = end_ms;
    }
    until_ms[op.index()] = begin_ms + operator_ms[op.index()];
    if (last && until_ms[op.index()] <= path.ms) continue;
    last = op;
    path.ms = until_ms[op.index()];
  }
  for (std::optional<OpId> at = last; at; at = before[at->index()]) path.operators.push_back(*at);
  std::reverse(path.operators.begin(), path.operators.end());
  return path;
}

std::vector<double> least_operator_ms(const CostModel& costs) {
  std::vector<double> least(costs.graph().size(), std::numeric_limits<double>::infinity());
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    for (std::size_t i = 0; i < least.size(); ++i) {
      least[i] = std::min(least[i], costs.operator_ms(OpId(i), DeviceId(d)));
    }
  }
  return least;
}

std::vector<OpId> longest_operators(std::span<const OpId> operators,
                                    std::span<const double> operator_ms, std::size_t most) {
  std::vector<std::size_t> positions(operators.size());
  std::iota(positions.begin(), positions.end(), 0);
  std::stable_sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
    return operator_ms[operators[a].index()] > operator_ms[operators[b].index()];
  });
  positions.resize(std::min(most, positions.size()));
  std::sort(positions.begin(), positions.end());
  std::vector<OpId> longest;
  for (const std::size_t position : positions) longest.push_back(operators[position]);
  return longest;
}

}  // namespace hios
