#include "scheduler/pipeline/pipeline_problem.h"

#include <algorithm>
#include <map>
#include <queue>
#include <string>
#include <utility>

#include "hios/graph/arcs.h"
#include "scheduler/list/device_classes.h"

namespace hios::scheduler::pipeline {
namespace {

/// Returns, by operator, the first operator of its label; the operator itself without a label.
std::vector<OpId> label_heads(const Graph& graph) {
  std::map<std::string, OpId> first;
  std::vector<OpId> heads;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::string& label = graph.op(OpId(i)).colocate;
    heads.push_back(label.empty() ? OpId(i) : first.emplace(label, OpId(i)).first->second);
  }
  return heads;
}

void sort_once(std::vector<Vertex>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

PipelineProblem::PipelineProblem(const Graph& graph, const CostModel& costs,
                                 std::span<const double> shares)
    : graph_(&graph), costs_(&costs) {
  join_vertices();
  find_tensors();
  find_classes(shares);
  given_order_ = order_by_priority(*this, std::vector<double>(size(), 0));
}

/// Joins operators of a label into one node, and nodes that reach each other into one vertex:
/// operators of a label are on either side of them. Vertices are numbered by their first operators.
void PipelineProblem::join_vertices() {
  const std::vector<OpId> heads = label_heads(*graph_);
  const Arcs arcs(graph_->size(), [&](const auto& visit) {
    for (const Edge& edge : graph_->edges()) {
      visit(heads[edge.from.index()].index(), heads[edge.to.index()].index());
    }
  });
  const std::vector<std::size_t> components = strong_components(arcs);
  constexpr Vertex kNew = ~Vertex{0};
  std::vector<Vertex> vertex_of_component(graph_->size(), kNew);
  vertex_of_.resize(graph_->size());
  for (const OpId op : graph_->topological()) {
    Vertex& vertex = vertex_of_component[components[heads[op.index()].index()]];
    if (vertex == kNew) {
      vertex = static_cast<Vertex>(vertices_.size());
      vertices_.emplace_back();
    }
    vertex_of_[op.index()] = vertex;
    PipelineVertex& joined = vertices_[vertex];
    joined.ops.push_back(op);
    joined.parameters += graph_->op(op).parameter_bytes;
    joined.held += graph_->op(op).memory_bytes + graph_->op(op).parameter_bytes;
  }
  for (const Edge& edge : graph_->edges()) {
    const Vertex from = vertex_of_[edge.from.index()], to = vertex_of_[edge.to.index()];
    if (from == to) continue;
    vertices_[from].successors.push_back(to);
    vertices_[to].predecessors.push_back(from);
  }
  for (PipelineVertex& vertex : vertices_) {
    sort_once(vertex.predecessors);
    sort_once(vertex.successors);
  }
}

void PipelineProblem::find_tensors() {
  for (Vertex v = 0; v < vertices_.size(); ++v) {
    for (const OpId op : vertices_[v].ops) {
      std::vector<Vertex> consumers;
      for (const EdgeId edge : graph_->out_edges(op)) {
        const Vertex consumer = vertex_of_[graph_->edge(edge).to.index()];
        if (consumer != v) consumers.push_back(consumer);
      }
      if (consumers.empty()) continue;
      sort_once(consumers);
      tensors_.push_back(
          {v, tensor_ms(*graph_, *costs_, op), tensor_bytes(*graph_, op), std::move(consumers)});
    }
  }
}

void PipelineProblem::find_classes(std::span<const double> shares) {
  const Platform& platform = costs_->platform();
  for (const std::vector<DeviceId>& alike : device_classes(*graph_, *costs_)) {
    const std::size_t first = classes_.size();
    for (const DeviceId id : alike) {
      const Device& device = platform.device(id);
      const auto same = std::find_if(classes_.begin() + static_cast<std::ptrdiff_t>(first),
                                     classes_.end(), [&](const PipelineClass& each) {
                                       return each.charge == device.charge_in_flight() &&
                                              each.fast_memory == device.fast_memory &&
                                              each.memory_bytes == device.memory_bytes;
                                     });
      if (same != classes_.end()) {
        same->devices.push_back(id);
        continue;
      }
      PipelineClass& made = classes_.emplace_back();
      made.devices = {id};
      made.charge = device.charge_in_flight();
      made.fast_memory = device.fast_memory;
      made.memory_bytes = device.memory_bytes;
      for (const PipelineVertex& vertex : vertices_) {
        double ms = 0;
        for (const OpId op : vertex.ops) {
          ms += costs_->operator_ms(op, id) * (shares.empty() ? 1 : shares[op.index()]);
        }
        made.work_ms.push_back(ms);
      }
    }
  }
}

std::vector<Vertex> order_by_priority(const PipelineProblem& problem,
                                      std::span<const double> priorities) {
  const std::vector<PipelineVertex>& vertices = problem.vertices();
  const auto later = [&](Vertex a, Vertex b) {
    return priorities[a] != priorities[b] ? priorities[a] < priorities[b] : a > b;
  };
  std::priority_queue<Vertex, std::vector<Vertex>, decltype(later)> ready(later);
  std::vector<std::size_t> awaited;
  for (Vertex v = 0; v < vertices.size(); ++v) {
    awaited.push_back(vertices[v].predecessors.size());
    if (awaited.back() == 0) ready.push(v);
  }
  std::vector<Vertex> order;
  order.reserve(vertices.size());
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const Vertex next : vertices[order.back()].successors) {
      if (--awaited[next] == 0) ready.push(next);
    }
  }
  return order;
}

std::vector<Vertex> depth_first_order(const PipelineProblem& problem) {
  const std::vector<PipelineVertex>& vertices = problem.vertices();
  std::vector<std::size_t> awaited(vertices.size());
  std::vector<Vertex> ready, order;
  for (Vertex v = static_cast<Vertex>(vertices.size()); v-- > 0;) {
    awaited[v] = vertices[v].predecessors.size();
    if (awaited[v] == 0) ready.push_back(v);
  }
  while (!ready.empty()) {
    order.push_back(ready.back());
    ready.pop_back();
    for (const Vertex next : vertices[order.back()].successors) {
      if (--awaited[next] == 0) ready.push_back(next);
    }
  }
  return order;
}

}  // namespace hios::scheduler::pipeline
