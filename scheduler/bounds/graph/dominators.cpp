#include "scheduler/bounds/graph/dominators.h"

// In topological order the dominators of all inputs are known when an operator's turn comes; its
// own immediate dominator is the last that all inputs have in common (each counted as its own), to
// be found by climbing from the later of two until they meet. An operator without inputs has none,
// and neither has what it alone does not lead to.

namespace hios::scheduler {
namespace {

std::size_t common(std::size_t a, std::size_t b, const std::vector<std::size_t>& above,
                   std::size_t limit) {
  for (std::size_t step = 0; a != b; ++step) {
    if (step == limit) return kNoDominator;
    std::size_t& later = a > b ? a : b;
    later = above[later];
    if (later == kNoDominator) return kNoDominator;
  }
  return a;
}

}  // namespace

std::vector<std::size_t> immediate_dominators(const BoundGraph& graph, std::size_t limit) {
  std::vector<std::size_t> above(graph.size(), kNoDominator);
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto inputs = graph.edges.inputs(v);
    if (inputs.empty()) continue;
    std::size_t meeting = inputs.front().other;
    for (const Arc& arc : inputs) {
      meeting = common(meeting, arc.other, above, limit);
      if (meeting == kNoDominator) break;
    }
    above[v] = meeting;
  }
  return above;
}

}  // namespace hios::scheduler
