#include "scheduler/split/modules/modules.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduler/structures/graph_partition.h"

// Ghannane and Abdelfattah, "DiviML", section IV-B1, look for bridges and articulation points of
// the undirected graph. That suffices only if the module before has no other end: an operator
// without consumers may run in parallel with later modules. An operator comparable with all others
// excludes that. A bridge between modules with one input and one output has such an operator at
// each end.

namespace hios::scheduler::split {

std::vector<Module> modules_of(const Graph& graph) {
  std::vector<Module> modules(1);
  for (auto& subgraph : partition_graph(graph, std::numeric_limits<std::size_t>::max()).subgraphs) {
    Module& open = modules.back();
    if (subgraph.size() > 1) {
      open.between = std::move(subgraph);
      continue;
    }
    const OpId separator = subgraph.front();
    if (modules.size() == 1 && open.between.empty() && !open.entry) {
      open.entry = separator;  // nothing is before it
      continue;
    }
    open.exit = separator;
    modules.push_back({separator, {}, {}});
  }
  if (modules.size() > 1 && modules.back().between.empty()) modules.pop_back();
  return modules;
}

namespace {

/// Returns, by position, the number of tensors produced before it and consumed at or after it.
std::vector<std::size_t> passing(const Graph& graph, std::span<const OpId> order) {
  std::vector<std::size_t> position(graph.size()), last(graph.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i].index()] = i;
  std::vector<std::size_t> count(order.size() + 1, 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::size_t consumer = i;
    for (EdgeId e : graph.out_edges(order[i])) {
      consumer = std::max(consumer, position[graph.edge(e).to.index()]);
    }
    for (std::size_t at = i + 1; at <= consumer; ++at) ++count[at];
  }
  return count;
}

}  // namespace

std::vector<std::size_t> cuts_along(const Graph& graph, std::span<const OpId> order,
                                    std::size_t most, std::size_t channels) {
  const std::vector<std::size_t> count = passing(graph, order);
  std::vector<std::size_t> cuts;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t best = std::min(begin + most, order.size());
    for (std::size_t at = best; best < order.size() && at > begin + most / 2; --at) {
      if (count[at] < count[best]) best = at;
    }
    for (std::size_t at = begin + most / 2; count[best] > channels && at > begin; --at) {
      if (count[at] <= channels) best = at;
    }
    cuts.push_back(best);
    begin = best;
  }
  return cuts;
}

}  // namespace hios::scheduler::split
