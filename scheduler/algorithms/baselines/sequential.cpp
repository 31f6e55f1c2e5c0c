#include "scheduler/algorithms/baselines/sequential.h"

#include <functional>
#include <queue>
#include <utility>

namespace hios::scheduler {
namespace {

/// Returns a topological order in which, of the vertices that are ready, those of earlier inputs
/// come first.
std::vector<OpId> inputs_in_turn(const Graph& graph, const Batching& batching) {
  using Ready = std::pair<std::int64_t, std::size_t>;  // first input, place in topological order
  const auto order = graph.topological();
  std::vector<std::size_t> place(graph.size()), missing(graph.size());
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  const auto add = [&](OpId op) { ready.emplace(batching.of(op).inputs.begin, place[op.index()]); };
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i].index()] = i;
    missing[order[i].index()] = graph.in_edges(order[i]).size();
  }
  for (const OpId op : order) {
    if (missing[op.index()] == 0) add(op);
  }
  std::vector<OpId> result;
  while (!ready.empty()) {
    const OpId op = order[ready.top().second];
    ready.pop();
    result.push_back(op);
    for (const EdgeId edge : graph.out_edges(op)) {
      const OpId to = graph.edge(edge).to;
      if (--missing[to.index()] == 0) add(to);
    }
  }
  return result;
}

}  // namespace

std::vector<Stage> sequential(const Graph& graph) {
  if (const Batching* const batching = graph.batching()) {
    return one_operator_stages(inputs_in_turn(graph, *batching));
  }
  const auto order = graph.topological();
  return one_operator_stages({order.begin(), order.end()});
}

}  // namespace hios::scheduler
