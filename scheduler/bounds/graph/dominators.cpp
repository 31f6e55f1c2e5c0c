#include "scheduler/bounds/graph/dominators.h"

// In topological order, the dominators of all inputs are known when an operator is visited. Its
// immediate dominator is the last that all inputs have in common (each dominates itself), found by
// climbing from the later of two until they meet. An operator without inputs has none, and neither
// has one whose inputs have no dominator in common.

namespace hios::scheduler {
namespace {

std::size_t common_dominator(std::size_t a, std::size_t b,
                             const std::vector<std::size_t>& dominator, std::size_t limit) {
  for (std::size_t step = 0; a != b; ++step) {
    if (step == limit) return kNoDominator;
    std::size_t& later = a > b ? a : b;
    later = dominator[later];
    if (later == kNoDominator) return kNoDominator;
  }
  return a;
}

}  // namespace

std::vector<std::size_t> immediate_dominators(const BoundGraph& graph, std::size_t limit) {
  std::vector<std::size_t> dominator(graph.size(), kNoDominator);
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto inputs = graph.edges.inputs(v);
    if (inputs.empty()) continue;
    std::size_t last_common = inputs.front().other;
    for (const Arc& arc : inputs) {
      last_common = common_dominator(last_common, arc.other, dominator, limit);
      if (last_common == kNoDominator) break;
    }
    dominator[v] = last_common;
  }
  return dominator;
}

}  // namespace hios::scheduler
