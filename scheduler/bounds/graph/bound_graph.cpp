#include "scheduler/bounds/graph/bound_graph.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "scheduler/structures/numbers.h"

namespace hios::scheduler {
namespace {

constexpr std::uint32_t kOutside = ~std::uint32_t{0};

void add_least_shares(const Shares& shares, BoundGraph& into) {
  for (OpId op : into.ops) {
    double path = kInfinity, window = kInfinity;
    for (DeviceId device : into.allowed->devices(op)) {
      path = std::min(path, shares.path_ms(op, device));
      window = std::min(window, shares.window_ms(op, device));
    }
    into.path_ms.push_back(path);
    into.window_ms.push_back(window);
  }
  into.speeds = device_speeds(into.ops, into.window_ms, shares, *into.allowed);
}

void add_colocations(BoundGraph& into) {
  std::unordered_map<std::uint32_t, std::uint32_t> first;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const auto own = static_cast<std::uint32_t>(i);
    const auto colocation = into.allowed->colocation(into.ops[i]);
    into.colocation.push_back(colocation ? first.emplace(*colocation, own).first->second : own);
  }
}

Arc arc_of(const Graph& graph, AllowedDevices& allowed, EdgeId edge, std::uint32_t other) {
  const Edge& e = graph.edge(edge);
  const bool must_share = allowed.must_share(e.from, e.to);
  return {other, must_share || allowed.may_share(e.from, e.to),
          must_share ? kInfinity : allowed.transfer_ms(edge)};
}

}  // namespace

std::vector<double> device_speeds(const std::vector<OpId>& ops,
                                  const std::vector<double>& window_ms, const Shares& shares,
                                  const AllowedDevices& allowed) {
  constexpr double kUnused = -1;
  std::vector<double> by_device;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    for (DeviceId device : allowed.devices(ops[i])) {
      if (device.index() >= by_device.size()) by_device.resize(device.index() + 1, kUnused);
      const double here = shares.window_ms(ops[i], device);
      double& speed = by_device[device.index()];
      speed = std::max(speed, here > window_ms[i] ? window_ms[i] / here : 1);
    }
  }
  std::erase(by_device, kUnused);
  std::sort(by_device.rbegin(), by_device.rend());
  return by_device;
}

BoundGraphs::BoundGraphs(const Graph& graph, const Shares& shares, AllowedDevices& allowed)
    : graph_(&graph), shares_(&shares), allowed_(&allowed), number_(graph.size(), kOutside) {}

BoundGraph BoundGraphs::subgraph(std::vector<OpId> operators) {
  BoundGraph result;
  result.ops = std::move(operators);
  result.allowed = allowed_;
  add_least_shares(*shares_, result);
  add_colocations(result);
  for (std::size_t i = 0; i < result.size(); ++i) {
    number_[result.ops[i].index()] = static_cast<std::uint32_t>(i);
  }
  result.edges = FlatGraph<Arc>(result.size(), [&](std::size_t v, auto add) {
    for (EdgeId e : graph_->in_edges(result.ops[v])) {
      const std::uint32_t from = number_[graph_->edge(e).from.index()];
      if (from != kOutside) add(arc_of(*graph_, *allowed_, e, from));
    }
  });
  for (OpId op : result.ops) number_[op.index()] = kOutside;
  return result;
}

BoundGraph BoundGraphs::whole() {
  return subgraph({graph_->topological().begin(), graph_->topological().end()});
}

BoundGraph reversed(const BoundGraph& graph) {
  BoundGraph result;
  result.ops.assign(graph.ops.rbegin(), graph.ops.rend());
  result.path_ms.assign(graph.path_ms.rbegin(), graph.path_ms.rend());
  result.window_ms.assign(graph.window_ms.rbegin(), graph.window_ms.rend());
  result.colocation.assign(graph.colocation.rbegin(), graph.colocation.rend());
  result.speeds = graph.speeds;
  result.edges = graph.edges.reversed();
  result.allowed = graph.allowed;
  return result;
}

}  // namespace hios::scheduler
