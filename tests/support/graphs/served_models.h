#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "scheduler/cold/shared/server.h"

/// Models that share a server, for tests.
namespace hios::test {

/// An operator of a served model: time, bytes of parameters, and their label.
struct ServedOperator {
  double ms = 0;
  Bytes bytes = 0;
  std::string label = {};
};

/// Returns a chain of operators "v0", "v1", …, whose tensors take no time.
inline Graph served_chain(const std::string& name, const std::vector<ServedOperator>& served) {
  std::vector<Operator> operators(served.size());
  std::vector<Edge> edges;
  for (std::size_t v = 0; v < served.size(); ++v) {
    operators[v].name = "v" + std::to_string(v);
    operators[v].time_ms = served[v].ms;
    operators[v].has_time = true;
    operators[v].parameter_bytes = served[v].bytes;
    operators[v].parameters = served[v].label;
    if (v > 0) edges.push_back({OpId(v - 1), OpId(v), 0, 0.0, {}});
  }
  return Graph(name, std::move(operators), std::move(edges));
}

/// Returns devices gpu0, gpu1, …, each with a bus of 1 GB/s from memory and, to every other, a
/// route of 4 GB/s. `memory`: by device; 0 for none.
inline Platform served_platform(const std::vector<Bytes>& memory) {
  std::vector<Device> devices(memory.size());
  std::vector<Bus> buses;
  std::vector<Route> routes;
  for (std::size_t d = 0; d < memory.size(); ++d) {
    devices[d].name = "gpu" + std::to_string(d);
    devices[d].kind = "gpu";
    devices[d].memory_bytes = memory[d];
    buses.push_back({"pcie" + std::to_string(d), 1});
    routes.push_back({StoreId(0), DeviceId(d), {BusId(d)}, 0, 100});
    for (std::size_t to = 0; to < memory.size(); ++to) {
      if (to != d) routes.push_back({DeviceId(d), DeviceId(to), {}, 0, 4});
    }
  }
  return Platform(std::move(devices), {{"dram", "", StoreKind::kMemory}}, std::move(buses),
                  std::move(routes));
}

/// Graphs with their costs on a platform, which it owns.
class ServedModels {
 public:
  ServedModels(std::vector<Graph> graphs, Platform platform, std::vector<double> shares)
      : graphs_(std::move(graphs)), platform_(std::move(platform)), shares_(std::move(shares)) {
    costs_.reserve(graphs_.size());
    for (const Graph& graph : graphs_) costs_.push_back(CostModel::from_graph(graph, platform_));
  }
  ServedModels(const ServedModels&) = delete;
  ServedModels& operator=(const ServedModels&) = delete;

  std::vector<scheduler::cold::ServedModel> models() const {
    std::vector<scheduler::cold::ServedModel> all;
    for (std::size_t m = 0; m < costs_.size(); ++m) all.push_back({&costs_[m], shares_[m]});
    return all;
  }
  scheduler::cold::Server server(Bytes keep_bytes) const { return {models(), keep_bytes}; }
  const Graph& graph(std::size_t model) const { return graphs_[model]; }
  const Platform& platform() const { return platform_; }
  const CostModel& costs(std::size_t model) const { return costs_[model]; }

 private:
  std::vector<Graph> graphs_;
  Platform platform_;
  std::vector<double> shares_;
  std::vector<CostModel> costs_;
};

}  // namespace hios::test
