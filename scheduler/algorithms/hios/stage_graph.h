#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/algorithms/hios/stage_list.h"

namespace hios::scheduler {

/// A schedule as the graph of its stages, in which neighbours on a device can be merged. It has an
/// arc for every edge between stages, and one from each stage to the next on its device. Stages
/// have positions in a topological order that follows a given order of operators as far as
/// possible, so that neighbours on a device have near positions.
class StageGraph {
 public:
  using NodeId = std::uint32_t;
  static constexpr NodeId kNone = std::numeric_limits<NodeId>::max();

  /// Graph and costs must outlive it. REQUIRES: `schedule` is valid and has one operator a group;
  /// `order` has all operators. Where stages have several, it has them one after the other: else
  /// positions between them cost time.
  StageGraph(const Graph& graph, const CostModel& costs, const Schedule& schedule,
             const std::vector<OpId>& order);

  std::size_t position_count() const { return sequence_.size(); }
  /// Returns the stage at the position; kNone if it was merged into another one.
  NodeId at(std::size_t position) const { return sequence_[position]; }
  std::size_t position(NodeId node) const { return nodes_[node].position; }
  NodeId node_of(OpId op) const { return node_of_[op.index()]; }
  NodeId before(NodeId node) const { return nodes_[node].before; }
  NodeId after(NodeId node) const { return nodes_[node].after; }
  std::span<const NodeId> last_on_devices() const { return last_; }  ///< kNone for an empty one
  DeviceId device(NodeId node) const { return DeviceId(nodes_[node].device); }
  double cost_ms(NodeId node) const { return nodes_[node].cost_ms; }
  /// Returns the time of the copies that the device makes before the stage, from the end of the
  /// stage before on. 0 where receiving takes no time from a device.
  double copy_ms(NodeId node) const { return nodes_[node].copy_ms; }
  /// Returns true if the stage has two or more operators.
  bool merged(NodeId node) const { return nodes_[node].next_member != kNone; }

  /// Calls visit(node, transfer ms) for every edge from, or to, another stage.
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

  /// Returns a stage of the neighbours' operators, each a group.
  Stage stage_of(const std::vector<NodeId>& members) const;
  /// Returns true if members depend on each other only by the device's order, so that merging them
  /// makes no cycle. Then independent() and dependent() are the stages between the first and the
  /// last member that do not, or do, depend on a member, in order. REQUIRES: members are
  /// consecutive on their device, in order.
  bool mergeable(const std::vector<NodeId>& members);
  std::span<const NodeId> independent() const { return independent_; }
  std::span<const NodeId> dependent() const { return dependent_; }
  /// Returns the first and the last position of those members.
  std::pair<std::size_t, std::size_t> member_positions() const { return {begin_, end_}; }
  /// Returns true if the stage is after the merged members: at a later position, or in dependent().
  bool after_members(NodeId node) const;

  /// Merges the members into the first one, at that cost. Changes only positions from the first to
  /// the last member's. REQUIRES: mergeable(members).
  void merge(const std::vector<NodeId>& members, double cost_ms);

  Schedule schedule() const;
  /// Returns the stages in the order of their positions.
  StageList list() const;

 private:
  struct Node {
    OpId op;
    std::uint32_t device = 0;
    NodeId before = kNone, after = kNone;  ///< on the device
    NodeId next_member = kNone;            ///< merged into this stage, as a list
    std::uint32_t position = 0;            ///< in sequence_
    double cost_ms = 0;
    double copy_ms = 0;
  };
  enum class Relation : char { kIndependent, kMember, kDependent };

  void add_nodes(const Schedule& schedule);
  void add_node(OpId op, DeviceId device);
  void add_copies();
  void merge_given(const Schedule& schedule);
  void sort_topologically(const std::vector<OpId>& order);

  const Graph& graph_;
  const CostModel& costs_;
  std::vector<NodeId> node_of_;  // by operator
  std::vector<Node> nodes_;
  std::vector<NodeId> sequence_;
  std::vector<NodeId> last_;  // by device
  // State of the last mergeable().
  std::size_t begin_ = 0, end_ = 0;  // their first and last position
  std::vector<Relation> relation_;   // by position from begin_ to end_
  std::vector<NodeId> independent_, dependent_;
};

}  // namespace hios::scheduler
