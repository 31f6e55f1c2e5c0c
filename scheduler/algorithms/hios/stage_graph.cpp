#include "scheduler/algorithms/hios/stage_graph.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "scheduler/list/priorities.h"
#include "scheduler/list/receipts.h"

// Merging neighbours concerns the positions between the first and the last of them: which stages
// there depend on a member? One pass marks them, by the edges and by the order on each device. If a
// member is marked by more than its own device, the merged graph would have a cycle. Otherwise the
// unmarked stages, then the merged one, then the marked ones are a topological order, and no other
// position changes.

namespace hios::scheduler {

StageGraph::StageGraph(const Graph& graph, const CostModel& costs, const Schedule& schedule,
                       const std::vector<OpId>& order)
    : graph_(graph), costs_(costs), node_of_(graph.size(), kNone) {
  add_nodes(schedule);
  if (costs.charges_receivers()) add_copies();
  sort_topologically(order);
  merge_given(schedule);
}

void StageGraph::add_nodes(const Schedule& schedule) {
  nodes_.reserve(graph_.size());
  last_.assign(schedule.devices.size(), kNone);
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      for (const Group& group : stage.groups) add_node(group.front(), DeviceId(d));
    }
  }
}

void StageGraph::add_node(OpId op, DeviceId device) {
  const auto n = static_cast<NodeId>(nodes_.size());
  Node node;
  node.op = op;
  node.device = static_cast<std::uint32_t>(device.index());
  node.before = last_[device.index()];
  node.cost_ms = costs_.operator_ms(op, device);
  if (node.before != kNone) nodes_[node.before].after = n;
  last_[device.index()] = n;
  node_of_[op.index()] = n;
  nodes_.push_back(node);
}

/// Adds the copies of the tensors that a device has not received before. REQUIRES: the nodes of a
/// device are in its order.
void StageGraph::add_copies() {
  std::vector<Receipt> received(graph_.size() * last_.size());
  for (Node& node : nodes_) {
    const DeviceId own(node.device);
    for (const EdgeId e : graph_.in_edges(node.op)) {
      const OpId producer = graph_.edge(e).from;
      const DeviceId from = device(node_of(producer));
      if (from == own) continue;
      Receipt& had = received[producer.index() * last_.size() + node.device];
      const Receipt has = deliver(costs_, e, from, own, had).receipt;
      node.copy_ms += has.copied_ms - had.copied_ms;
      had = has;
    }
  }
}

/// Merges the operators of the schedule's stages. In a valid schedule they depend on each other by
/// the device's order alone.
void StageGraph::merge_given(const Schedule& schedule) {
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      if (stage.groups.size() < 2) continue;
      std::vector<NodeId> members;
      for (const Group& group : stage.groups) members.push_back(node_of(group.front()));
      merge(members, costs_.stage_ms(stage, DeviceId(d)));
    }
  }
}

/// Runs Kahn's algorithm; of all ready operators, the first in `order` is next.
void StageGraph::sort_topologically(const std::vector<OpId>& order) {
  const std::vector<std::size_t> rank = positions(order);
  std::vector<std::size_t> pending(nodes_.size(), 0);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  const auto check_in = [&](NodeId n) {
    if (pending[n] == 0) ready.push(rank[nodes_[n].op.index()]);
  };
  for (NodeId n = 0; n < nodes_.size(); ++n) {
    pending[n] = graph_.in_edges(nodes_[n].op).size() + (nodes_[n].before != kNone ? 1 : 0);
    check_in(n);
  }
  sequence_.reserve(nodes_.size());
  while (!ready.empty()) {
    const NodeId n = node_of(order[ready.top()]);
    ready.pop();
    nodes_[n].position = static_cast<std::uint32_t>(sequence_.size());
    sequence_.push_back(n);
    const auto arrive = [&](NodeId to) {
      --pending[to];
      check_in(to);
    };
    for (EdgeId e : graph_.out_edges(nodes_[n].op)) arrive(node_of(graph_.edge(e).to));
    if (nodes_[n].after != kNone) arrive(nodes_[n].after);
  }
}

Stage StageGraph::stage_of(const std::vector<NodeId>& members) const {
  Stage stage;
  for (NodeId member : members) {
    for (NodeId m = member; m != kNone; m = nodes_[m].next_member) {
      stage.groups.push_back({nodes_[m].op});
    }
  }
  return stage;
}

bool StageGraph::mergeable(const std::vector<NodeId>& members) {
  begin_ = position(members.front());
  end_ = position(members.back());
  relation_.assign(end_ - begin_ + 1, Relation::kIndependent);
  independent_.clear();
  dependent_.clear();
  const auto reached = [&](NodeId n) {
    return position(n) >= begin_ && position(n) <= end_ &&
           relation_[position(n) - begin_] != Relation::kIndependent;
  };
  for (std::size_t i = begin_; i <= end_; ++i) {
    const NodeId n = sequence_[i];
    if (n == kNone) continue;
    bool depends = false;
    for_each_input(n, [&](NodeId from, double) { depends = depends || reached(from); });
    if (std::find(members.begin(), members.end(), n) != members.end()) {
      if (depends) return false;
      relation_[i - begin_] = Relation::kMember;
      continue;
    }
    depends = depends || (before(n) != kNone && reached(before(n)));
    if (depends) relation_[i - begin_] = Relation::kDependent;
    (depends ? dependent_ : independent_).push_back(n);
  }
  return true;
}

bool StageGraph::after_members(NodeId node) const {
  if (position(node) > end_) return true;
  return position(node) >= begin_ && relation_[position(node) - begin_] == Relation::kDependent;
}

void StageGraph::merge(const std::vector<NodeId>& members, double cost_ms) {
  mergeable(members);
  const NodeId first = members.front();
  std::size_t next = begin_;
  const auto put = [&](NodeId n) {
    nodes_[n].position = static_cast<std::uint32_t>(next);
    sequence_[next++] = n;
  };
  for (NodeId n : independent_) put(n);
  put(first);
  for (NodeId n : dependent_) put(n);
  while (next <= end_) sequence_[next++] = kNone;

  Node& merged = nodes_[first];
  merged.cost_ms = cost_ms;
  merged.after = nodes_[members.back()].after;
  if (merged.after != kNone) nodes_[merged.after].before = first;
  if (last_[merged.device] == members.back()) last_[merged.device] = first;
  for (std::size_t i = 1; i < members.size(); ++i) {
    node_of_[nodes_[members[i]].op.index()] = first;
    nodes_[members[i - 1]].next_member = members[i];
    merged.copy_ms += nodes_[members[i]].copy_ms;
  }
}

StageList StageGraph::list() const {
  StageList list;
  for (const NodeId n : sequence_) {
    if (n == kNone) continue;
    list.stages.push_back(stage_of({n}));
    list.devices.push_back(device(n));
  }
  return list;
}

Schedule StageGraph::schedule() const {
  Schedule schedule;
  schedule.devices.resize(last_.size());
  for (std::size_t d = 0; d < last_.size(); ++d) {
    for (NodeId n = last_[d]; n != kNone; n = before(n)) {
      schedule.devices[d].push_back(stage_of({n}));
    }
    std::reverse(schedule.devices[d].begin(), schedule.devices[d].end());
  }
  return schedule;
}

}  // namespace hios::scheduler
