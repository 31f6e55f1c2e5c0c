// The network is one that every part of the engine runs: a layer an operator, of a kind that reads
// any number of equal tensors. No backend but the emulated one ever computes it.
#include "engine/emulated/machine.h"

#include <algorithm>
#include <cstdio>
#include <map>
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

/// The longest time of an operator, latency or transfer, as in files.
constexpr double kLongestMs = 1e9;

/// Throws InputError where a number is above the limit once it is multiplied.
void require_in_range(double number, double by, double most, const std::string& what,
                      const char* unit, const char* other = "smaller") {
  if (number * by <= most) return;
  char text[96];
  std::snprintf(text, sizeof text, "%g %s, and at most %g can be emulated", number * by, unit,
                most);
  throw InputError(what + " would have " + text + ": a " + other + " time scale is needed");
}

void require_times(const std::map<std::string, double, std::less<>>& times, double by,
                   const std::string& what) {
  for (const auto& [name, ms] : times) require_in_range(ms, by, kLongestMs, what, "ms");
}

/// Throws InputError where a time would be too long for a clock.
void require_times(const Graph& graph, double by) {
  for (const Operator& op : graph.operators()) {
    const std::string what = "operator " + printable(op.name);
    require_in_range(op.time_ms, by, kLongestMs, what, "ms");
    require_times(op.time_by_device, by, what);
    require_in_range(op.in_place_ms.value_or(0), by, kLongestMs, what + ", read in place,", "ms");
    require_times(op.in_place_by_device, by, what + ", read in place,");
  }
  for (const Edge& edge : graph.edges()) {
    const std::string what = "the transfer of " + printable(graph.op(edge.from).name);
    require_in_range(edge.transfer_ms.value_or(0), by, kLongestMs, what, "ms");
    if (!edge.transfer_by_pair) continue;
    for (const auto& [from, to] : *edge.transfer_by_pair) require_times(to, by, what);
  }
}

/// Throws InputError where a bandwidth would be none that a platform may have.
void require_bandwidth(double gb_per_s, double by, const std::string& what) {
  require_in_range(gb_per_s, 1 / by, kMaxGbPerS, what, "GB/s", "larger");
  require_in_range(1 / gb_per_s, by, 1 / kMinGbPerS, what, "s for a GB");
}

void require_rates(const Topology& topology, double by) {
  for (const Bus& bus : topology.buses()) {
    require_bandwidth(bus.gb_per_s, by, "bus " + printable(bus.name));
  }
  std::size_t number = 0;
  for (const Route& route : topology.routes()) {
    const std::string what = "route " + std::to_string(number++);
    require_in_range(route.latency_ms, by, kLongestMs, what, "ms");
    require_bandwidth(route.gb_per_s, by, what);
  }
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
  const Topology& topology = *platform.topology();
  const auto starts = [](const Route& route) { return route.start_ms > 0; };
  if (topology.has_slowdowns() || std::ranges::any_of(topology.routes(), starts)) {
    throw InputError(
        "the platform has routes with start_ms, slowdown or load_slowdown, which no emulated run "
        "knows: leave these out of the platform, and plan again");
  }
  const auto copies = [](const Device& device) {
    return device.io_charge && device.io_charge->receive > 0;
  };
  if (std::ranges::any_of(platform.devices(), copies)) {
    throw InputError(
        "the platform has an io_charge with receive above 0, and an emulated device receives while "
        "it computes: leave it out of the platform, and plan again");
  }
  require_times(graph, time_scale);
  require_rates(*platform.topology(), time_scale);
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
