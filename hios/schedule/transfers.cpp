#include "hios/schedule/transfers.h"

#include <algorithm>

namespace hios {

std::vector<PlannedTransfer> transfers_of(const Graph& graph, const Assignment& assignment) {
  std::vector<PlannedTransfer> all;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto& producer = assignment.find(OpId(i));
    if (!producer) continue;
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    for (const EdgeId e : graph.out_edges(OpId(i))) {
      const auto& consumer = assignment.find(graph.edge(e).to);
      if (consumer && consumer->device != producer->device) {
        all.push_back({OpId(i), consumer->device});
      }
    }
    std::sort(all.begin() + first, all.end());
    all.erase(std::unique(all.begin() + first, all.end()), all.end());
  }
  return all;
}

}  // namespace hios
