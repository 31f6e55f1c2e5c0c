#include "scheduler/split/modules/components.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "hios/graph/arcs.h"

// A set is split at cuts of fewer than k edges until it has none (Chang, Yu, Qin, Lin, Liu and
// Liang, "Efficiently Computing k-Edge Connected Components via Graph Decomposition", which DiviML
// cites). The cuts come from orders of maximum adjacency (Stoer and Wagner, "A Simple Min-Cut
// Algorithm"): each next node is the one that most edges connect with those before it. The last
// node's edges are a cut. A node that at least k edges connect with those before it is on one side
// with the node before it in each cut of fewer than k edges, so both become one node.

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kNoSet = std::numeric_limits<std::size_t>::max();

/// A set of operators that splits into components.
class Splitting {
 public:
  Splitting(const Graph& graph, std::size_t k) : graph_(graph), k_(k), set_(graph.size(), 0) {}

  std::vector<std::vector<OpId>> run() {
    if (graph_.size() == 0) return {};
    const auto order = graph_.topological();
    open_.emplace_back(order.begin(), order.end());
    while (!open_.empty()) {
      std::vector<OpId> operators = std::move(open_.back());
      open_.pop_back();
      split(std::move(operators));
    }
    return sorted();
  }

 private:
  struct Link {
    std::size_t from, to;
  };

  /// Removes operators that fewer than k edges touch, then finds one cut among the others. What is
  /// split off is open again; a set without such a cut is a component.
  void split(std::vector<OpId> operators) {
    const std::size_t number = ++sets_;
    for (OpId op : operators) set_[op.index()] = number;
    peel(operators, number);
    std::erase_if(operators, [&](OpId op) { return set_[op.index()] != number; });
    if (operators.empty()) return;
    const std::vector<bool> side = cut(operators);
    std::vector<OpId> left, right;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      (side[i] ? left : right).push_back(operators[i]);
    }
    if (left.empty()) {
      components_.push_back(std::move(right));
      return;
    }
    open_.push_back(std::move(left));
    open_.push_back(std::move(right));
  }

  template <class EachNeighbour>
  void each_neighbour(OpId op, std::size_t number, const EachNeighbour& call) const {
    for (EdgeId e : graph_.in_edges(op)) {
      if (set_[graph_.edge(e).from.index()] == number) call(graph_.edge(e).from);
    }
    for (EdgeId e : graph_.out_edges(op)) {
      if (set_[graph_.edge(e).to.index()] == number) call(graph_.edge(e).to);
    }
  }

  void peel(const std::vector<OpId>& operators, std::size_t number) {
    std::vector<std::size_t> degree(graph_.size(), 0);
    std::vector<OpId> thin;
    for (OpId op : operators) {
      each_neighbour(op, number, [&](OpId) { ++degree[op.index()]; });
      if (degree[op.index()] < k_) thin.push_back(op);
    }
    while (!thin.empty()) {
      const OpId op = thin.back();
      thin.pop_back();
      each_neighbour(op, number, [&](OpId other) {
        if (degree[other.index()]-- == k_) thin.push_back(other);
      });
      set_[op.index()] = kNoSet;
      components_.push_back({op});
    }
  }

  /// Returns one side of a cut of fewer than k edges, by position; all false: there is none.
  std::vector<bool> cut(const std::vector<OpId>& operators) const {
    std::vector<std::size_t> node(operators.size());  // of each operator: those that became one
    std::iota(node.begin(), node.end(), std::size_t{0});
    const std::vector<Link> links = links_among(operators);
    for (std::size_t nodes = operators.size(); nodes > 1;) {
      const Order order = adjacency_order(nodes, node, links);
      if (order.strength.back() < k_) {
        std::vector<bool> side(operators.size());
        for (std::size_t i = 0; i < side.size(); ++i) side[i] = node[i] == order.nodes.back();
        return side;
      }
      std::vector<std::size_t> joined(nodes);
      std::size_t count = 0;
      for (std::size_t i = 0; i < nodes; ++i) {
        if (i > 0 && order.strength[i] < k_) ++count;
        joined[order.nodes[i]] = count;
      }
      nodes = count + 1;
      for (std::size_t& of : node) of = joined[of];
    }
    return std::vector<bool>(operators.size());
  }

  std::vector<Link> links_among(const std::vector<OpId>& operators) const {
    std::vector<std::size_t> position(graph_.size(), kNoSet);
    for (std::size_t i = 0; i < operators.size(); ++i) position[operators[i].index()] = i;
    std::vector<Link> links;
    for (OpId op : operators) {
      for (EdgeId e : graph_.out_edges(op)) {
        const std::size_t to = position[graph_.edge(e).to.index()];
        if (to != kNoSet) links.push_back({position[op.index()], to});
      }
    }
    return links;
  }

  /// Nodes, and the number of links of each with those before it.
  struct Order {
    std::vector<std::size_t> nodes, strength;
  };

  static Order adjacency_order(std::size_t nodes, const std::vector<std::size_t>& node,
                               const std::vector<Link>& links) {
    const Arcs arcs(nodes, [&](const auto& arc) {
      for (const Link& link : links) {
        if (node[link.from] == node[link.to]) continue;
        arc(node[link.from], node[link.to]);
        arc(node[link.to], node[link.from]);
      }
    });
    Order order;
    std::vector<std::size_t> strength(nodes, 0);
    std::vector<bool> taken(nodes, false);
    std::priority_queue<std::pair<std::size_t, std::size_t>> next;
    for (std::size_t n = 0; n < nodes; ++n) next.emplace(0, n);
    while (order.nodes.size() < nodes) {
      const auto [known, n] = next.top();
      next.pop();
      if (taken[n] || known != strength[n]) continue;
      taken[n] = true;
      order.nodes.push_back(n);
      order.strength.push_back(known);
      for (std::size_t other : arcs.from(n)) {
        if (!taken[other]) next.emplace(++strength[other], other);
      }
    }
    return order;
  }

  std::vector<std::vector<OpId>> sorted() {
    std::vector<std::size_t> position(graph_.size());
    for (std::size_t i = 0; i < graph_.size(); ++i) position[graph_.topological()[i].index()] = i;
    std::sort(components_.begin(), components_.end(), [&](const auto& a, const auto& b) {
      return position[a.front().index()] < position[b.front().index()];
    });
    return std::move(components_);
  }

  const Graph& graph_;
  std::size_t k_;
  std::vector<std::size_t> set_;  ///< the last set that held the operator; kNoSet: a component
  std::size_t sets_ = 0;
  std::vector<std::vector<OpId>> open_, components_;
};

}  // namespace

std::vector<std::vector<OpId>> edge_connected_components(const Graph& graph, std::size_t k) {
  return Splitting(graph, k).run();
}

std::vector<std::vector<OpId>> modules_by_components(const Graph& graph, std::size_t channels,
                                                     std::size_t most) {
  const auto components = edge_connected_components(graph, channels + 1);
  std::vector<std::size_t> component(graph.size());
  for (std::size_t c = 0; c < components.size(); ++c) {
    for (OpId op : components[c]) component[op.index()] = c;
  }
  const Arcs arcs(components.size(), [&](const auto& arc) {
    for (const Edge& edge : graph.edges()) {
      arc(component[edge.from.index()], component[edge.to.index()]);
    }
  });
  // No arc leads to a greater number, so the greatest comes first.
  const std::vector<std::size_t> number = strong_components(arcs);
  std::vector<std::vector<OpId>> parts(components.size());
  for (OpId op : graph.topological()) {
    parts[parts.size() - 1 - number[component[op.index()]]].push_back(op);
  }
  std::vector<std::size_t> module(graph.size()), sizes;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    if (sizes.empty() || sizes.back() + part.size() > most) sizes.push_back(0);
    sizes.back() += part.size();
    for (OpId op : part) module[op.index()] = sizes.size() - 1;
  }
  std::vector<std::vector<OpId>> modules(sizes.size());
  for (OpId op : graph.topological()) modules[module[op.index()]].push_back(op);
  return modules;
}

}  // namespace hios::scheduler::split
