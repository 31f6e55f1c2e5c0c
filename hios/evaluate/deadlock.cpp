#include "hios/evaluate/deadlock.h"

#include <algorithm>
#include <limits>

#include "hios/graph/arcs.h"

// Idea: a schedule runs to its end if and only if its stage graph has no cycle: a node a stage, an
// arc for every edge between operators of different stages, an arc from each stage to the next on
// its device. Strongly connected components find all knots in O(V + E),
// which is all that a valid schedule costs.
//
// Only the telling of a knot searches further, from the most useful message to the least:
//  1. groups of one stage that depend on each other through operators outside it,
//  2. an operator that its device runs before its own input,
//  3. a shortest cycle through one stage of the knot.
// Search 1 could cost a pass over the knot for each of its stages, so it has a budget linear in the
// graph; past it, a knot is told by 2 or 3. tests/hios/evaluate/validate_test.cpp compares the
// verdict with an executor that really gets stuck.

namespace hios {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kFindingsPerKnot = 16;

struct Node {
  DeviceId device;
  std::size_t stage = 0;
};

class DeadlockSearch {
 public:
  DeadlockSearch(const Graph& graph, const Platform& platform, const Schedule& schedule,
                 const Assignment& assignment)
      : graph_(graph),
        platform_(platform),
        schedule_(schedule),
        assignment_(assignment),
        nodes_(all_nodes(schedule)),
        arcs_(all_arcs()),
        component_(strong_components(arcs_)),
        budget_(64 * (graph.size() + graph.edge_count())) {}

  std::vector<Finding> run() {
    std::vector<std::vector<std::size_t>> knots(nodes_.size());
    for (std::size_t n = 0; n < nodes_.size(); ++n) knots[component_[n]].push_back(n);
    for (const auto& knot : knots) {
      if (knot.size() > 1) tell(knot);
    }
    return std::move(findings_);
  }

 private:
  std::size_t node_of(OpId op) const {
    return assignment_.find(op) ? assignment_.stage_number(op) : kNone;
  }
  const Stage& stage(std::size_t node) const {
    return schedule_.devices[nodes_[node].device.index()][nodes_[node].stage];
  }
  bool has_next(std::size_t node) const {
    return nodes_[node].stage + 1 < schedule_.devices[nodes_[node].device.index()].size();
  }

  /// Data arcs from the edges, then the device's next stage.
  Arcs all_arcs() const {
    return Arcs(nodes_.size(), [this](const auto& visit) {
      for (const Edge& edge : graph_.edges()) {
        const std::size_t from = node_of(edge.from), to = node_of(edge.to);
        if (from != kNone && to != kNone && from != to) visit(from, to);
      }
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        if (has_next(n)) visit(n, n + 1);
      }
    });
  }

  static std::vector<Node> all_nodes(const Schedule& schedule) {
    std::vector<Node> nodes;
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      for (std::size_t s = 0; s < schedule.devices[d].size(); ++s)
        nodes.push_back({DeviceId(d), s});
    }
    return nodes;
  }

  void tell(const std::vector<std::size_t>& knot) {
    const std::size_t before = findings_.size();
    const auto full = [&] { return findings_.size() - before >= kFindingsPerKnot; };
    for (std::size_t i = 0; i < knot.size() && !full(); ++i) tell_dependence(knot[i]);
    if (findings_.size() > before) return;
    for (std::size_t i = 0; i < knot.size() && !full(); ++i) tell_inversions(knot[i]);
    if (findings_.size() > before) return;
    report_cycle(cycle_through(arcs_, component_, knot.front()));
  }

  void add(Rule rule, std::string text, OpId op) {
    const AssignedTo& place = assignment_[op];
    findings_.push_back({rule, std::move(text), op, place.device, place.stage});
  }

  std::string describe(OpId op) const {
    return describe_place(graph_, platform_, op, assignment_[op]);
  }

  /// Looks for a path out of the stage and back into it, along edges only.
  void tell_dependence(std::size_t node) {
    for (const Group& group : stage(node).groups) {
      if (stage(node).groups.size() == 1 && group.size() == 1) return;
      for (OpId from : group) {
        if (tell_dependence_on(node, from)) return;
      }
    }
  }

  bool tell_dependence_on(std::size_t node, OpId from) {
    std::vector<OpId> queue{from};
    std::vector<std::size_t> via{kNone};
    seen_.resize(graph_.size(), kNone);
    for (std::size_t i = 0; i < queue.size() && budget_ > 0; ++i) {
      for (EdgeId e : graph_.out_edges(queue[i])) {
        if (budget_ > 0) --budget_;
        const OpId to = graph_.edge(e).to;
        const std::size_t at = node_of(to);
        if (at == kNone || component_[at] != component_[node] ||
            seen_[to.index()] == from.index()) {
          continue;
        }
        if (at == node) {
          if (i == 0) continue;  // an edge inside the stage
          report_dependence(from, queue[i], to);
          return true;
        }
        seen_[to.index()] = from.index();
        queue.push_back(to);
      }
    }
    return false;
  }

  void report_dependence(OpId from, OpId through, OpId to) {
    const bool same_group = assignment_[from].group == assignment_[to].group;
    const std::string needs = describe(to) + " needs " + graph_.op(from).name +
                              " of the same stage through " + describe(through);
    if (same_group) {
      add(Rule::kCycle, needs + ", which cannot run while that stage runs", to);
    } else {
      add(Rule::kDependentGroups, needs + ": groups of a stage must be independent", to);
    }
  }

  void tell_inversions(std::size_t node) {
    for (const Group& group : stage(node).groups) {
      for (OpId op : group) {
        for (EdgeId e : graph_.in_edges(op)) {
          const OpId input = graph_.edge(e).from;
          const auto& place = assignment_.find(input);
          if (!place || node_of(op) != node || place->device != nodes_[node].device) continue;
          if (place->stage <= nodes_[node].stage) continue;
          add(Rule::kCycle, describe(op) + " runs before its input " + describe(input), op);
          break;
        }
      }
    }
  }

  /// `cycle` lists each stage before the one that it waits for.
  void report_cycle(const std::vector<std::size_t>& cycle) {
    constexpr std::size_t kShown = 6;
    std::string text = "cyclic wait: " + describe_stage(cycle.front());
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (i == kShown) {
        text += " … (" + std::to_string(cycle.size() - kShown) + " more)";
        break;
      }
      const std::size_t later = cycle[i], earlier = cycle[(i + 1) % cycle.size()];
      text += (i > 0 ? ", which " : " ") + waits_for(later, earlier);
    }
    std::optional<OpId> first;
    for (const Group& group : stage(cycle.front()).groups) {
      if (!first && !group.empty()) first = group.front();
    }
    const Node& node = nodes_[cycle.front()];
    findings_.push_back({Rule::kCycle, std::move(text), first, node.device, node.stage});
  }

  std::string describe_stage(std::size_t node) const {
    return "stage " + std::to_string(nodes_[node].stage) + " of " +
           platform_.device(nodes_[node].device).name;
  }

  std::string waits_for(std::size_t later, std::size_t earlier) const {
    for (const Group& group : stage(later).groups) {
      for (OpId op : group) {
        for (EdgeId e : graph_.in_edges(op)) {
          const OpId input = graph_.edge(e).from;
          if (node_of(op) != later || node_of(input) != earlier) continue;
          return "needs " + graph_.op(input).name + " for " + graph_.op(op).name + " from " +
                 describe_stage(earlier);
        }
      }
    }
    return "comes after " + describe_stage(earlier);
  }

  const Graph& graph_;
  const Platform& platform_;
  const Schedule& schedule_;
  const Assignment& assignment_;
  std::vector<Node> nodes_;  // by number of the stage
  Arcs arcs_;
  std::vector<std::size_t> component_;  // by node
  std::vector<std::size_t> seen_;       // by operator: the start of the search that met it last
  std::size_t budget_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> find_deadlocks(const Graph& graph, const Platform& platform,
                                    const Schedule& schedule, const Assignment& assignment) {
  return DeadlockSearch(graph, platform, schedule, assignment).run();
}

std::string describe_place(const Graph& graph, const Platform& platform, OpId op,
                           const AssignedTo& place) {
  return graph.op(op).name + " (device " + platform.device(place.device).name + ", stage " +
         std::to_string(place.stage) + ", group " + std::to_string(place.group) + ")";
}

}  // namespace hios
