#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler {

/// A schedule as the graph of its stages, in which neighbours on a device can be merged: an arc for
/// every edge between stages, and one from each stage to the next on its device. Each stage has a
/// place in a topological order, as near to a given order of the operators as that allows, so that
/// neighbours on a device are near each other in it.
class StageGraph {
 public:
  using NodeId = std::uint32_t;
  static constexpr NodeId kNone = std::numeric_limits<NodeId>::max();

  /// Graph and costs outlive it. REQUIRES: `schedule` is valid and has one operator a stage;
  /// `order` holds all operators.
  StageGraph(const Graph& graph, const CostModel& costs, const Schedule& schedule,
             const std::vector<OpId>& order);

  std::size_t places() const { return sequence_.size(); }
  /// kNone, where one was that is merged into another now.
  NodeId at(std::size_t place) const { return sequence_[place]; }
  std::size_t place(NodeId node) const { return nodes_[node].place; }
  NodeId node_of(OpId op) const { return node_of_[op.index()]; }
  NodeId before(NodeId node) const { return nodes_[node].before; }
  NodeId after(NodeId node) const { return nodes_[node].after; }
  std::span<const NodeId> last_on_devices() const { return last_; }  ///< kNone on an empty one
  DeviceId device(NodeId node) const { return DeviceId(nodes_[node].device); }
  double cost_ms(NodeId node) const { return nodes_[node].cost_ms; }
  /// Of two or more operators.
  bool merged(NodeId node) const { return nodes_[node].next_member != kNone; }

  /// visit(node, transfer ms) for every edge from another stage, to one.
  template <class Visit>
  void for_each_input(NodeId node, Visit visit) const {
    const DeviceId own = device(node);
    for (NodeId m = node; m != kNone; m = nodes_[m].next_member) {
      for (EdgeId e : graph_.in_edges(nodes_[m].op)) {
        const NodeId from = node_of(graph_.edge(e).from);
        visit(from, costs_.transfer_ms(e, device(from), own));
      }
    }
  }
  template <class Visit>
  void for_each_output(NodeId node, Visit visit) const {
    const DeviceId own = device(node);
    for (NodeId m = node; m != kNone; m = nodes_[m].next_member) {
      for (EdgeId e : graph_.out_edges(nodes_[m].op)) {
        const NodeId to = node_of(graph_.edge(e).to);
        visit(to, costs_.transfer_ms(e, own, device(to)));
      }
    }
  }

  /// A stage of the operators of several neighbours, each a group.
  Stage stage_of(const std::vector<NodeId>& members) const;
  /// Whether no member waits for another but by the order on the device: merged, they would make no
  /// cycle. Then free() are the stages that are placed between the first and the last member and
  /// wait for none, waiting() those that do; both in order.
  /// REQUIRES: members are neighbours on their device, in order.
  bool mergeable(const std::vector<NodeId>& members);
  std::span<const NodeId> free() const { return free_; }
  std::span<const NodeId> waiting() const { return waiting_; }
  /// The first and the last place of those members.
  std::pair<std::size_t, std::size_t> members_places() const { return {begin_, end_}; }
  /// Whether the stage comes after them when they are merged: it is placed behind all of them, or
  /// one of waiting().
  bool behind_members(NodeId node) const;

  /// The first member becomes a stage of all, at that cost. Only the places from its own to the
  /// last member's change. REQUIRES: mergeable(members).
  void merge(const std::vector<NodeId>& members, double cost_ms);

  Schedule schedule() const;

 private:
  struct Node {
    OpId op;
    std::uint32_t device = 0;
    NodeId before = kNone, after = kNone;  ///< on the device
    NodeId next_member = kNone;            ///< absorbed by this stage, one after the other
    std::uint32_t place = 0;               ///< in sequence_
    double cost_ms = 0;
  };
  enum class Relation : char { kFree, kMember, kWaiting };

  void add_nodes(const Schedule& schedule);
  void sort_topologically(const std::vector<OpId>& order);

  const Graph& graph_;
  const CostModel& costs_;
  std::vector<NodeId> node_of_;  // by operator
  std::vector<Node> nodes_;
  std::vector<NodeId> sequence_;
  std::vector<NodeId> last_;  // by device
  // Of the members that were asked for last.
  std::size_t begin_ = 0, end_ = 0;  // their first and last place
  std::vector<Relation> relation_;   // by place from begin_ to end_
  std::vector<NodeId> free_, waiting_;
};

}  // namespace hios::scheduler
