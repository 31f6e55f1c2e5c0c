#include "scheduler/list/priorities.h"

#include <algorithm>

// p(u) = t(u) + max over edges e = (u, v) of t(e) + p(v), from the end of the topological order to
// its start: O(V + E). Since times are not negative and rounding is monotone, p(u) >= p(v) along
// every edge in floating point as well. A stable sort of the topological order then leaves u before
// v if they are equal. tests/scheduler/list/priorities_test.cpp.

namespace hios::scheduler {
namespace {

double rank_time_ms(const CostModel& costs, OpId op, RankTimes times) {
  if (times == RankTimes::kMean) return costs.mean_operator_ms(op);
  double least = costs.operator_ms(op, DeviceId(0));
  for (std::size_t d = 1; d < costs.platform().size(); ++d) {
    least = std::min(least, costs.operator_ms(op, DeviceId(d)));
  }
  return least;
}

/// Returns the weight of an edge. The means over pairs are 0 on one device, where nothing is sent;
/// the paper's priorities are those of the graph alone, so its own weights count there, too.
double weight_ms(const Graph& graph, const CostModel& costs, EdgeId edge) {
  if (costs.platform().size() > 1) return costs.mean_transfer_ms(edge);
  return graph.edge(edge).transfer_ms.value_or(0);
}

}  // namespace

std::vector<double> upward_ranks(const Graph& graph, const CostModel& costs, RankTimes times) {
  std::vector<double> ranks(graph.size(), 0);
  const auto topological = graph.topological();
  for (std::size_t i = topological.size(); i-- > 0;) {
    const OpId op = topological[i];
    double rest = 0;
    for (EdgeId e : graph.out_edges(op)) {
      rest = std::max(rest, weight_ms(graph, costs, e) + ranks[graph.edge(e).to.index()]);
    }
    ranks[op.index()] = rank_time_ms(costs, op, times) + rest;
  }
  return ranks;
}

std::vector<OpId> priority_order(const Graph& graph, const CostModel& costs, RankTimes times) {
  const std::vector<double> ranks = upward_ranks(graph, costs, times);
  std::vector<OpId> order(graph.topological().begin(), graph.topological().end());
  std::stable_sort(order.begin(), order.end(),
                   [&](OpId a, OpId b) { return ranks[a.index()] > ranks[b.index()]; });
  return order;
}

std::vector<std::size_t> positions(const std::vector<OpId>& order) {
  std::vector<std::size_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i].index()] = i;
  return position;
}

}  // namespace hios::scheduler
