#include "scheduler/algorithms/baselines/sequential.h"

namespace hios::scheduler {

std::vector<Stage> sequential(const Graph& graph) {
  const auto order = graph.topological();
  return one_operator_stages({order.begin(), order.end()});
}

}  // namespace hios::scheduler
