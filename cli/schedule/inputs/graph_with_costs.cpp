#include "cli/schedule/inputs/graph_with_costs.h"

#include <cmath>

namespace hios::cli {

namespace {

/// Sets one time where it is equal on all devices, or else one for each device that can run the
/// operator.
void set_times(Operator& op, OpId id, const CostModel& costs) {
  op.time_by_device.clear();
  const Platform& platform = costs.platform();
  const double first_ms = costs.operator_ms(id, DeviceId(0));
  bool alike = std::isfinite(first_ms);
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const double ms = costs.operator_ms(id, DeviceId(d));
    alike = alike && ms == first_ms;
    if (std::isfinite(ms)) op.time_by_device[platform.device(DeviceId(d)).name] = ms;
  }
  op.has_time = alike;
  if (!alike) return;
  op.time_ms = first_ms;
  op.time_by_device.clear();
}

}  // namespace

Graph graph_with_costs(const CostModel& costs) {
  const Graph& graph = costs.graph();
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (std::size_t i = 0; i < operators.size(); ++i) set_times(operators[i], OpId(i), costs);
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  if (costs.platform().size() > 1) {
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (edges[e].transfer_by_pair) continue;  // more precise than a mean
      edges[e].transfer_ms = costs.mean_transfer_ms(EdgeId(e));
    }
  }
  return Graph(graph.name(), std::move(operators), std::move(edges), graph.stage_cost());
}

Graph graph_with_costs(const SizedGraphs& graphs,
                       const std::function<CostModel(const Graph&)>& costs_of) {
  const Graph whole = graph_with_costs(costs_of(*graphs.whole()));
  std::vector<Operator> operators(whole.operators().begin(), whole.operators().end());
  for (Operator& op : operators) {
    op.has_time = false;
    op.time_by_device.clear();
  }
  for (const std::int64_t size : graphs.sizes()) {
    const CostModel costs = costs_of(graphs.of(size));
    for (std::size_t v = 0; v < operators.size(); ++v) {
      for (std::size_t d = 0; d < costs.platform().size(); ++d) {
        const double ms = costs.operator_ms(OpId(v), DeviceId(d));
        const std::string& device = costs.platform().device(DeviceId(d)).name;
        if (std::isfinite(ms)) operators[v].time_by_size[device][size] = ms;
      }
    }
  }
  return Graph(whole.name(), std::move(operators), {whole.edges().begin(), whole.edges().end()},
               whole.stage_cost(), graphs.inputs());
}

}  // namespace hios::cli
