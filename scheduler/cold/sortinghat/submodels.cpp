#include "scheduler/cold/sortinghat/submodels.h"

#include <algorithm>
#include <utility>

// Partition by dominators (Namkoong et al., "SortingHat", section 3.1), over operators alone: a set
// of parameters is no vertex, or every operator that reads some would be another beginning. Virtual
// source and sink make graphs of several inputs or outputs ordinary ones.
//
// An operator is on every path exactly if no edge passes its topological position, edges of the
// virtual source and sink included: a path visits ascending positions. So one sweep finds them.
//
// Submodels without a choice, chains of operators without parameters, are merged with the next one.
// Those of more operators than a solver can take are cut where the fewest tensors cross: the cells
// of NASNet, which have no dominators between them, since each reads the outputs of two.
//
// Test: tests/scheduler/cold/sortinghat/submodels_test.cpp

namespace hios::scheduler::sortinghat {
namespace {

using Operators = std::vector<OpId>;

std::vector<std::size_t> positions_of(const Graph& graph) {
  std::vector<std::size_t> positions(graph.size());
  for (std::size_t p = 0; p < graph.size(); ++p) positions[graph.topological()[p].index()] = p;
  return positions;
}

/// Returns true if the submodel is a chain in which nothing is loaded.
bool has_no_choice(const Graph& graph, const Operators& submodel) {
  for (std::size_t i = 0; i < submodel.size(); ++i) {
    if (graph.op(submodel[i]).parameter_bytes > 0) return false;
    if (i == 0) continue;
    const auto follows = [&](EdgeId e) { return graph.edge(e).from == submodel[i - 1]; };
    if (std::ranges::none_of(graph.in_edges(submodel[i]), follows)) return false;
  }
  return true;
}

void append(Operators& submodel, const Operators& next) {
  submodel.insert(submodel.end(), next.begin(), next.end());
}

std::vector<Operators> merged(const Graph& graph, const std::vector<Operators>& list,
                              std::size_t most) {
  std::vector<Operators> result;
  bool open = false;  // the last of the result has no choice
  for (const Operators& submodel : list) {
    const bool fits = !result.empty() && result.back().size() + submodel.size() <= most;
    if (open && fits) {
      append(result.back(), submodel);
    } else {
      result.push_back(submodel);
    }
    open = has_no_choice(graph, result.back());
  }
  if (open && result.size() > 1 &&
      result[result.size() - 2].size() + result.back().size() <= most) {
    append(result[result.size() - 2], result.back());
    result.pop_back();
  }
  return result;
}

/// Returns the number of operators before the cut: of the sizes from most / 2 to most, that with
/// the fewest tensors across, the largest of several.
std::size_t cut_of(const Graph& graph, const Operators& submodel, std::size_t begin,
                   std::size_t most, const std::vector<std::size_t>& positions) {
  const std::size_t first = positions[submodel[begin].index()];
  std::size_t best = most, fewest = graph.size() + 1;
  for (std::size_t size = std::max<std::size_t>(1, most / 2); size <= most; ++size) {
    std::size_t across = 0;
    for (std::size_t i = begin; i < begin + size; ++i) {
      across += std::ranges::any_of(graph.out_edges(submodel[i]), [&](EdgeId e) {
        return positions[graph.edge(e).to.index()] >= first + size;
      });
    }
    if (across > fewest) continue;
    fewest = across;
    best = size;
  }
  return best;
}

}  // namespace

std::vector<OpId> partition_nodes(const Graph& graph) {
  const std::vector<std::size_t> positions = positions_of(graph);
  std::size_t reached = 0;  // the last position that an edge from an earlier one reaches
  for (std::size_t p = 0; p < graph.size(); ++p) {
    if (graph.in_edges(graph.topological()[p]).empty()) reached = p;  // from the virtual source
  }
  std::vector<OpId> nodes;
  for (std::size_t p = 0; p < graph.size(); ++p) {
    const OpId op = graph.topological()[p];
    if (reached <= p) nodes.push_back(op);
    if (graph.out_edges(op).empty()) reached = graph.size();  // to the virtual sink
    for (const EdgeId e : graph.out_edges(op)) {
      reached = std::max(reached, positions[graph.edge(e).to.index()]);
    }
  }
  return nodes;
}

std::vector<std::vector<OpId>> submodels(const Graph& graph, const SubmodelLimits& limits) {
  std::vector<bool> ends(graph.size(), false);
  const std::vector<OpId> nodes = partition_nodes(graph);
  for (std::size_t i = limits.dominators; i <= nodes.size(); i += limits.dominators) {
    ends[nodes[i - 1].index()] = true;
  }
  std::vector<Operators> list;
  bool begins = true;
  for (const OpId op : graph.topological()) {
    if (begins) list.emplace_back();
    list.back().push_back(op);
    begins = ends[op.index()];
  }
  const std::vector<std::size_t> positions = positions_of(graph);
  std::vector<Operators> result;
  for (const Operators& submodel : merged(graph, list, limits.operators)) {
    std::size_t begin = 0;
    while (submodel.size() - begin > limits.operators) {
      const std::size_t size = cut_of(graph, submodel, begin, limits.operators, positions);
      result.emplace_back(submodel.begin() + static_cast<std::ptrdiff_t>(begin),
                          submodel.begin() + static_cast<std::ptrdiff_t>(begin + size));
      begin += size;
    }
    result.emplace_back(submodel.begin() + static_cast<std::ptrdiff_t>(begin), submodel.end());
  }
  return result;
}

}  // namespace hios::scheduler::sortinghat
