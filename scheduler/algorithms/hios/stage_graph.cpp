#include "scheduler/algorithms/hios/stage_graph.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "scheduler/list/priorities.h"

// Merging neighbours asks one question of the part of the topological order between the first and
// the last of them: what waits for a member there? One pass marks that, by the edges and by the
// order on each device. If a member is marked through more than its own device, the merged graph
// would have a cycle. Otherwise what is not marked, then the merged stage, then what is marked is a
// topological order again, and nothing outside of that part has moved.

namespace hios::scheduler {

StageGraph::StageGraph(const Graph& graph, const CostModel& costs, const Schedule& schedule,
                       const std::vector<OpId>& order)
    : graph_(graph), costs_(costs), node_of_(graph.size(), kNone) {
  add_nodes(schedule);
  sort_topologically(order);
}

void StageGraph::add_nodes(const Schedule& schedule) {
  nodes_.reserve(graph_.size());
  last_.assign(schedule.devices.size(), kNone);
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      const auto n = static_cast<NodeId>(nodes_.size());
      Node node;
      node.op = stage.groups.front().front();
      node.device = static_cast<std::uint32_t>(d);
      node.before = last_[d];
      node.cost_ms = costs_.operator_ms(node.op, DeviceId(d));
      if (node.before != kNone) nodes_[node.before].after = n;
      last_[d] = n;
      node_of_[node.op.index()] = n;
      nodes_.push_back(node);
    }
  }
}

/// Kahn's algorithm, of all that are ready the operator that comes first in `order`.
void StageGraph::sort_topologically(const std::vector<OpId>& order) {
  const std::vector<std::size_t> position = positions(order);
  std::vector<std::size_t> waits(nodes_.size(), 0);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  const auto check_in = [&](NodeId n) {
    if (waits[n] == 0) ready.push(position[nodes_[n].op.index()]);
  };
  for (NodeId n = 0; n < nodes_.size(); ++n) {
    waits[n] = graph_.in_edges(nodes_[n].op).size() + (nodes_[n].before != kNone ? 1 : 0);
    check_in(n);
  }
  sequence_.reserve(nodes_.size());
  while (!ready.empty()) {
    const NodeId n = node_of(order[ready.top()]);
    ready.pop();
    nodes_[n].place = static_cast<std::uint32_t>(sequence_.size());
    sequence_.push_back(n);
    const auto arrive = [&](NodeId to) {
      --waits[to];
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
  begin_ = place(members.front());
  end_ = place(members.back());
  relation_.assign(end_ - begin_ + 1, Relation::kFree);
  free_.clear();
  waiting_.clear();
  const auto reached = [&](NodeId n) {
    return place(n) >= begin_ && place(n) <= end_ &&
           relation_[place(n) - begin_] != Relation::kFree;
  };
  for (std::size_t i = begin_; i <= end_; ++i) {
    const NodeId n = sequence_[i];
    if (n == kNone) continue;
    bool waits = false;
    for_each_input(n, [&](NodeId from, double) { waits = waits || reached(from); });
    if (std::find(members.begin(), members.end(), n) != members.end()) {
      if (waits) return false;
      relation_[i - begin_] = Relation::kMember;
      continue;
    }
    waits = waits || (before(n) != kNone && reached(before(n)));
    if (waits) relation_[i - begin_] = Relation::kWaiting;
    (waits ? waiting_ : free_).push_back(n);
  }
  return true;
}

bool StageGraph::behind_members(NodeId node) const {
  if (place(node) > end_) return true;
  return place(node) >= begin_ && relation_[place(node) - begin_] == Relation::kWaiting;
}

void StageGraph::merge(const std::vector<NodeId>& members, double cost_ms) {
  mergeable(members);
  const NodeId first = members.front();
  std::size_t next = begin_;
  const auto put = [&](NodeId n) {
    nodes_[n].place = static_cast<std::uint32_t>(next);
    sequence_[next++] = n;
  };
  for (NodeId n : free_) put(n);
  put(first);
  for (NodeId n : waiting_) put(n);
  while (next <= end_) sequence_[next++] = kNone;

  Node& merged = nodes_[first];
  merged.cost_ms = cost_ms;
  merged.after = nodes_[members.back()].after;
  if (merged.after != kNone) nodes_[merged.after].before = first;
  if (last_[merged.device] == members.back()) last_[merged.device] = first;
  for (std::size_t i = 1; i < members.size(); ++i) {
    node_of_[nodes_[members[i]].op.index()] = first;
    nodes_[members[i - 1]].next_member = members[i];
  }
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
