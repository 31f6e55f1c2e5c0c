// The network is one that every part of the engine runs: a layer an operator, of a kind that reads
// any number of equal tensors. No backend but the emulated one ever computes it.
#include "engine/emulated/machine.h"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/cost_model.h"

namespace hios::emulated {
namespace {

void scale(std::map<std::string, double, std::less<>>& times, double by) {
  for (auto& [name, ms] : times) ms *= by;
}

Graph scaled(const Graph& graph, double by) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) {
    op.time_ms *= by;
    scale(op.time_by_device, by);
    if (op.in_place_ms) *op.in_place_ms *= by;
    scale(op.in_place_by_device, by);
  }
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  for (Edge& edge : edges) {
    if (edge.transfer_ms) *edge.transfer_ms *= by;
    if (!edge.transfer_by_pair) continue;
    PairTimes times = *edge.transfer_by_pair;
    for (auto& [from, to] : times) scale(to, by);
    edge.transfer_by_pair = std::make_shared<const PairTimes>(std::move(times));
  }
  return Graph(graph.name(), std::move(operators), std::move(edges), graph.stage_cost());
}

Platform scaled(const Platform& platform, double by) {
  const Topology& topology = *platform.topology();
  std::vector<Bus> buses(topology.buses().begin(), topology.buses().end());
  for (Bus& bus : buses) bus.gb_per_s /= by;
  std::vector<Route> routes(topology.routes().begin(), topology.routes().end());
  for (Route& route : routes) {
    route.latency_ms *= by;
    route.gb_per_s /= by;
  }
  return Platform({platform.devices().begin(), platform.devices().end()},
                  {topology.stores().begin(), topology.stores().end()}, std::move(buses),
                  std::move(routes));
}

/// Returns the graph with the sizes that tensors and parameters have in memory.
Graph with_digests(const Graph& graph, Bytes element_bytes) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) {
    op.memory_bytes = static_cast<Bytes>(kDigestValues) * element_bytes;
    if (op.parameter_bytes > 0) op.parameter_bytes = kParameterBytes;
  }
  return Graph(graph.name(), std::move(operators), {graph.edges().begin(), graph.edges().end()},
               graph.stage_cost());
}

}  // namespace

Machine machine_of(const Graph& graph, const Platform& platform, double time_scale) {
  if (graph.batching() || graph.inputs() > 1) {
    throw InputError(
        "the graph counts several inputs, and an emulated run has one: give one whose "
        "costs are those of all inputs together");
  }
  if (!platform.topology()) {
    throw InputError(
        "the platform has no routes, over which an emulated run moves its bytes: give it stores, "
        "buses and routes");
  }
  Machine machine{scaled(graph, time_scale), scaled(platform, time_scale), time_scale};
  CostModel::from_graph(machine.graph, machine.platform);  // all costs are there
  return machine;
}

Network digest_network(const Graph& graph, Bytes element_bytes) {
  const Shape digest{1, kDigestValues, 1, 1};
  ModelBuilder builder(graph.name(), digest);
  std::vector<TensorId> output_of(graph.size());
  std::vector<OpId> op_of;  // by layer
  for (const OpId op : graph.topological()) {
    std::vector<TensorId> inputs;
    for (const EdgeId edge : graph.in_edges(op)) {
      const TensorId tensor = output_of[graph.edge(edge).from.index()];
      if (std::ranges::find(inputs, tensor) == inputs.end()) inputs.push_back(tensor);
    }
    if (inputs.empty()) inputs.push_back(builder.input());
    output_of[op.index()] = builder.sum("operator_" + std::to_string(op.index()), inputs);
    op_of.push_back(op);
  }
  Model model = std::move(builder).build();
  CoarseGraph coarse{with_digests(graph, element_bytes), {}, {}, element_bytes, {}, {}};
  coarse.operators.resize(graph.size());
  coarse.producer_of.resize(model.tensors().size());
  for (std::size_t layer = 0; layer < op_of.size(); ++layer) {
    coarse.operators[op_of[layer].index()] = fuse(model, {LayerId(layer)});
    coarse.producer_of[model.layer(LayerId(layer)).output.index()] = op_of[layer];
  }
  return Network(std::move(model), std::move(coarse));
}

}  // namespace hios::emulated
