#include "hios/evaluate/deadlock.h"

#include <algorithm>
#include <limits>

#include "hios/graph/arcs.h"

// A schedule runs to its end if and only if its stage graph has no cycle. The graph has a node for
// each stage, an arc for every edge between operators of different stages, and an arc from each
// stage to the next on its device. All deadlocks are in its strongly connected components of more
// than one stage. Finding these takes O(V + E), and for a valid schedule that is all.
//
// Only a report on a component searches further, for the most useful message:
//  1. groups of one stage that depend on each other through operators outside it,
//  2. an operator that its device runs before its own input,
//  3. a shortest cycle through one stage of the component.
// Search 1 could visit the component once for each of its stages, so it has a budget linear in the
// graph; beyond it, search 2 or 3 reports. tests/hios/evaluate/validate_test.cpp compares the
// result with an executor that really gets stuck.

namespace hios {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kFindingsPerComponent = 16;

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
    std::vector<std::vector<std::size_t>> components(nodes_.size());
    for (std::size_t n = 0; n < nodes_.size(); ++n) components[component_[n]].push_back(n);
    for (const auto& component : components) {
      if (component.size() > 1) report(component);
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

  /// Returns arcs for the edges, then arcs to the next stage of a device.
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

  void report(const std::vector<std::size_t>& component) {
    const std::size_t before = findings_.size();
    const auto full = [&] { return findings_.size() - before >= kFindingsPerComponent; };
    for (std::size_t i = 0; i < component.size() && !full(); ++i) report_dependences(component[i]);
    if (findings_.size() > before) return;
    for (std::size_t i = 0; i < component.size() && !full(); ++i) report_inversions(component[i]);
    if (findings_.size() > before) return;
    report_cycle(cycle_through(arcs_, component_, component.front()));
  }

  void add(Rule rule, std::string text, OpId op) {
    const AssignedTo& assigned = assignment_[op];
    findings_.push_back({rule, std::move(text), op, assigned.device, assigned.stage});
  }

  std::string describe(OpId op) const {
    return describe_operator(graph_, platform_, op, assignment_[op]);
  }

  /// Reports paths out of the stage and back into it, along edges only.
  void report_dependences(std::size_t node) {
    for (const Group& group : stage(node).groups) {
      if (stage(node).groups.size() == 1 && group.size() == 1) return;
      for (OpId from : group) {
        if (report_dependence_on(node, from)) return;
      }
    }
  }

  bool report_dependence_on(std::size_t node, OpId from) {
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

  void report_inversions(std::size_t node) {
    for (const Group& group : stage(node).groups) {
      for (OpId op : group) {
        for (EdgeId e : graph_.in_edges(op)) {
          const OpId input = graph_.edge(e).from;
          const auto& assigned = assignment_.find(input);
          if (!assigned || node_of(op) != node || assigned->device != nodes_[node].device) continue;
          if (assigned->stage <= nodes_[node].stage) continue;
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
  std::vector<std::size_t> seen_;       // by operator: the start of the last search that met it
  std::size_t budget_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> find_deadlocks(const Graph& graph, const Platform& platform,
                                    const Schedule& schedule, const Assignment& assignment) {
  return DeadlockSearch(graph, platform, schedule, assignment).run();
}

std::string describe_operator(const Graph& graph, const Platform& platform, OpId op,
                              const AssignedTo& assigned) {
  return graph.op(op).name + " (device " + platform.device(assigned.device).name + ", stage " +
         std::to_string(assigned.stage) + ", group " + std::to_string(assigned.group) + ")";
}

}  // namespace hios
