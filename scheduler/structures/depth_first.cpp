#include "scheduler/structures/depth_first.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace hios::scheduler {
namespace {

class DepthFirstWalk {
 public:
  DepthFirstWalk(const Graph& graph, const DepthFirst& how)
      : graph_(graph), how_(how), entered_(graph.size(), false), left_(graph.size(), false) {}

  std::vector<OpId> run() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const OpId root = graph_.topological()[how_.roots_forward ? i : graph_.size() - 1 - i];
      const bool starts =
          how_.from_ends ? graph_.out_edges(root).empty() : graph_.in_edges(root).empty();
      if (starts) visit_from(root);
    }
    if (!how_.from_ends) std::reverse(order_.begin(), order_.end());
    return std::move(order_);
  }

 private:
  void visit_from(OpId root) {
    open_.push_back(root);
    while (!open_.empty()) {
      const OpId op = open_.back();
      if (!entered_[op.index()]) {
        enter(op);
        continue;
      }
      open_.pop_back();
      if (!left_[op.index()]) order_.push_back(op);
      left_[op.index()] = true;
    }
  }

  /// Opens the operator's neighbours; the last one is visited next.
  void enter(OpId op) {
    entered_[op.index()] = true;
    const auto edges = how_.from_ends ? graph_.in_edges(op) : graph_.out_edges(op);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Edge& edge = graph_.edge(edges[how_.first_edge ? edges.size() - 1 - i : i]);
      const OpId next = how_.from_ends ? edge.from : edge.to;
      if (!entered_[next.index()]) open_.push_back(next);
    }
  }

  const Graph& graph_;
  const DepthFirst how_;
  std::vector<bool> entered_, left_;
  std::vector<OpId> open_, order_;
};

}  // namespace

std::vector<OpId> depth_first_order(const Graph& graph, const DepthFirst& search) {
  return DepthFirstWalk(graph, search).run();
}

}  // namespace hios::scheduler
