#include "support/oracles/plain_intra_gpu.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/list/priorities.h"

// Kundu and Shu, HIOS, Alg. 2 literally: everything after a window is timed again for each window
// that is tried. The oracle of scheduler/algorithms/hios/intra_gpu.
//
// The schedule is a graph of stages; `sequence_` is a topological order of it. One pass over the
// sequence between a window's first and last operator marks every stage that waits for one of the
// window. If an operator of the window is marked, the merged graph would have a cycle.

namespace hios::test {
namespace {

using scheduler::priority_order;

struct Node {
  DeviceId device;
  std::vector<OpId> operators;
  std::optional<std::size_t> before, after;  ///< on the device
  std::size_t position = 0;                  ///< in sequence_
  double cost_ms = 0;
  double end_ms = 0;
  bool absorbed = false;  ///< by the window's first stage
};

class Parallelizer {
 public:
  Parallelizer(const Graph& graph, const CostModel& costs, const Schedule& schedule)
      : graph_(graph), costs_(costs), node_of_(graph.size()) {
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
        const OpId op = schedule.devices[d][s].groups.front().front();
        node_of_[op.index()] = nodes_.size();
        Node node{DeviceId(d), {op}, {}, {}, 0, costs.operator_ms(op, DeviceId(d)), 0, false};
        if (s > 0) {
          node.before = nodes_.size() - 1;
          nodes_.back().after = nodes_.size();
        }
        nodes_.push_back(std::move(node));
      }
    }
    sort_topologically();
    latency_ms_ = time_from(0);
  }

  /// Tries the windows that start at `op` and keeps the best if it helps.
  void try_windows_from(OpId op, std::size_t window) {
    const std::size_t first = node_of_[op.index()];
    if (nodes_[first].operators.size() > 1) return;
    const int streams = costs_.platform().device(nodes_[first].device).streams;
    const std::size_t most = std::min(window, static_cast<std::size_t>(std::max(1, streams)));
    std::vector<std::size_t> members{first}, best;
    double least = latency_ms_;
    while (members.size() < most) {
      const auto next = nodes_[members.back()].after;
      if (!next || nodes_[*next].operators.size() > 1) break;
      members.push_back(*next);
      if (!mark_waiting(members)) break;
      const double cost = costs_.stage_ms(stage_of(members), nodes_[first].device);
      if (cost >= serial_ms(members)) continue;
      if (const auto latency = time_merged(members, cost, least)) {
        least = *latency;
        best = members;
      }
    }
    if (!best.empty()) merge(best);
  }

  Schedule schedule() const {
    Schedule schedule;
    schedule.devices.resize(costs_.platform().size());
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].before || nodes_[n].absorbed) continue;
      for (std::optional<std::size_t> at = n; at; at = nodes_[*at].after) {
        schedule.devices[nodes_[n].device.index()].push_back(stage_of({*at}));
      }
    }
    return schedule;
  }

 private:
  Stage stage_of(const std::vector<std::size_t>& members) const {
    Stage stage;
    for (std::size_t member : members) {
      for (OpId op : nodes_[member].operators) stage.groups.push_back({op});
    }
    return stage;
  }

  double serial_ms(const std::vector<std::size_t>& members) const {
    double sum = 0;
    for (std::size_t member : members) sum += nodes_[member].cost_ms;
    return sum;
  }

  void sort_topologically() {
    std::vector<std::size_t> waits(nodes_.size(), 0);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      waits[n] = graph_.in_edges(nodes_[n].operators.front()).size() + (nodes_[n].before ? 1 : 0);
      if (waits[n] == 0) sequence_.push_back(n);
    }
    const auto arrive = [&](std::size_t next) {
      if (--waits[next] == 0) sequence_.push_back(next);
    };
    for (std::size_t i = 0; i < sequence_.size(); ++i) {
      const Node& node = nodes_[sequence_[i]];
      for (EdgeId e : graph_.out_edges(node.operators.front())) {
        arrive(node_of_[graph_.edge(e).to.index()]);
      }
      if (node.after) arrive(*node.after);
    }
    number_sequence(0);
  }

  void number_sequence(std::size_t begin) {
    for (std::size_t i = begin; i < sequence_.size(); ++i) nodes_[sequence_[i]].position = i;
  }

  /// Returns the node's start; with `in_order`, also after the previous node on its device.
  double start_of(const Node& node, bool in_order) const {
    double start = in_order && node.before ? nodes_[*node.before].end_ms : 0;
    for (OpId op : node.operators) {
      for (EdgeId e : graph_.in_edges(op)) {
        const Node& input = nodes_[node_of_[graph_.edge(e).from.index()]];
        start = std::max(start, input.end_ms + costs_.transfer_ms(e, input.device, node.device));
      }
    }
    return start;
  }

  /// Times the sequence from a position on; returns the latency of the whole.
  double time_from(std::size_t begin) {
    for (std::size_t i = begin; i < sequence_.size(); ++i) {
      Node& node = nodes_[sequence_[i]];
      node.end_ms = start_of(node, true) + node.cost_ms;
    }
    return greatest_end();
  }

  double greatest_end() const {
    double latest = 0;
    for (const Node& node : nodes_) latest = std::max(latest, node.end_ms);
    return latest;
  }

  /// Splits the sequence between the window's first and last member into `free_` and `waiting_`,
  /// the nodes that wait for the window. Returns false if a member is in `waiting_` or reads
  /// another member.
  bool mark_waiting(const std::vector<std::size_t>& members) {
    const std::size_t begin = nodes_[members.front()].position,
                      end = nodes_[members.back()].position;
    reached_.assign(end - begin + 1, false);
    free_.clear();
    waiting_.clear();
    const auto is_reached = [&](std::size_t n) {
      return nodes_[n].position >= begin && nodes_[n].position <= end &&
             reached_[nodes_[n].position - begin];
    };
    for (std::size_t i = begin; i <= end; ++i) {
      const std::size_t n = sequence_[i];
      bool waits = false;
      for (OpId op : nodes_[n].operators) {
        for (EdgeId e : graph_.in_edges(op)) {
          waits = waits || is_reached(node_of_[graph_.edge(e).from.index()]);
        }
      }
      if (std::find(members.begin(), members.end(), n) != members.end()) {
        if (waits) return false;
        reached_[i - begin] = true;
        continue;
      }
      waits = waits || (nodes_[n].before && is_reached(*nodes_[n].before));
      reached_[i - begin] = waits;
      (waits ? waiting_ : free_).push_back(n);
    }
    return true;
  }

  /// Returns the latency with the window merged, or nothing once it is at least `limit`. Restores
  /// the state. REQUIRES: mark_waiting(members) was true.
  std::optional<double> time_merged(const std::vector<std::size_t>& members, double cost_ms,
                                    double limit) {
    saved_ends_.clear();
    for (const Node& node : nodes_) saved_ends_.push_back(node.end_ms);
    double end = 0;
    for (std::size_t member : members) {
      const bool first = member == members.front();
      end = std::max(end, start_of(nodes_[member], first) + cost_ms);
    }
    for (std::size_t member : members) nodes_[member].end_ms = end;
    bool helps = end < limit;
    const auto time = [&](std::size_t n) {
      nodes_[n].end_ms = start_of(nodes_[n], true) + nodes_[n].cost_ms;
      helps = helps && nodes_[n].end_ms < limit;
    };
    for (std::size_t i = 0; i < waiting_.size() && helps; ++i) time(waiting_[i]);
    for (std::size_t i = nodes_[members.back()].position + 1; i < sequence_.size() && helps; ++i) {
      time(sequence_[i]);
    }
    const double latency = greatest_end();
    for (std::size_t n = 0; n < nodes_.size(); ++n) nodes_[n].end_ms = saved_ends_[n];
    if (!helps || latency >= limit) return std::nullopt;
    return latency;
  }

  void merge(const std::vector<std::size_t>& members) {
    mark_waiting(members);
    const std::size_t begin = nodes_[members.front()].position,
                      end = nodes_[members.back()].position;
    Node& merged = nodes_[members.front()];
    merged.cost_ms = costs_.stage_ms(stage_of(members), merged.device);
    merged.after = nodes_[members.back()].after;
    if (merged.after) nodes_[*merged.after].before = members.front();
    for (std::size_t i = 1; i < members.size(); ++i) {
      Node& member = nodes_[members[i]];
      for (OpId op : member.operators) node_of_[op.index()] = members.front();
      merged.operators.insert(merged.operators.end(), member.operators.begin(),
                              member.operators.end());
      member = Node{};
      member.absorbed = true;
    }
    std::vector<std::size_t> sequence(sequence_.begin(),
                                      sequence_.begin() + static_cast<long>(begin));
    sequence.insert(sequence.end(), free_.begin(), free_.end());
    sequence.push_back(members.front());
    sequence.insert(sequence.end(), waiting_.begin(), waiting_.end());
    sequence.insert(sequence.end(), sequence_.begin() + static_cast<long>(end) + 1,
                    sequence_.end());
    sequence_ = std::move(sequence);
    number_sequence(begin);
    latency_ms_ = time_from(begin);
  }

  const Graph& graph_;
  const CostModel& costs_;
  std::vector<std::size_t> node_of_;  // by operator
  std::vector<Node> nodes_;
  std::vector<std::size_t> sequence_;
  double latency_ms_ = 0;
  // Buffers of mark_waiting and time_merged.
  std::vector<bool> reached_;
  std::vector<std::size_t> free_, waiting_;
  std::vector<double> saved_ends_;
};

}  // namespace

Schedule plain_parallelize(const Graph& graph, const CostModel& costs, const Schedule& schedule,
                           std::size_t window) {
  Parallelizer parallelizer(graph, costs, schedule);
  for (OpId op : priority_order(graph, costs)) parallelizer.try_windows_from(op, window);
  return parallelizer.schedule();
}

}  // namespace hios::test
