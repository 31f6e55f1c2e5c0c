#include "scheduler/split/modules/module_bounds.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "scheduler/split/modules/modules.h"

// Modules P₁ … Pₖ with all edges within a module or to a later one. Outputs of a module are its
// operators that have a consumer in a later one. The bound follows a remark by Ghannane and
// Abdelfattah, "DiviML", section IV-B2. Let S be some outputs of P₁, and C the operators of P₁ from
// which a path leads to one of S. An operator of S, say o, ends last of C, since each operator of C
// precedes or is one of S, which ends no earlier. The schedule restricted to C is a schedule of C,
// so o ends no earlier than OPT(C). All operators of later modules that o leads to start after
// that. So the latency is at least OPT(C) + D(o), where D(o) is the time of these operators alone.
// The last one of S is unknown, so the least D(o) counts.
//
// (The paper takes all of P₁ instead of C. That is wrong when an operator of P₁ leads to no output:
// it may run late, in parallel with later modules. The paper also takes all outputs for S, but an
// output with few consumers makes the least D small. Here outputs are sorted by decreasing D: each
// prefix is a choice of S, and the largest sum counts.)
//
// D(o) is bounded in the same way. Let M be the operators that o leads to, in the first module that
// has any. Let S be some outputs of that module in M, and C the operators of M from which a path
// leads to one of S. All of C starts after the end of o: D(o) ≥ OPT(C and o, which takes no time) +
// min D(o'). Including o accounts for the tensors that it sends. If M has no output, C is M. So
// there is a problem for each output and S, and a shortest path through them. As in chain.cpp, only
// problems on shortest paths are proved; others keep bounds that cost nothing.
//
// The mirror image holds for the mirrored schedule, in which every operator begins when it ended.
//
// Subproblems keep times by device, transfers, labels and memory, and so does a schedule without
// some of its operators. Test: tests/scheduler/split/modules/module_bounds_test.cpp.

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kMaxChoices = 4;  // prefixes of outputs, apart from all of them
constexpr std::size_t kMaxOperatorsOfReachability =
    5000;  // their reachability has a bit for each two of them

class BoundPath {
 public:
  BoundPath(const CostModel& costs, const Reachability& reach, const std::vector<std::size_t>& cuts,
            bool mirrored, Prover& prover)
      : graph_(costs.graph()),
        costs_(costs),
        reach_(reach),
        mirrored_(mirrored),
        prover_(prover),
        rank_(graph_.size()),
        module_(graph_.size()),
        members_(cuts.size()) {
    std::size_t module = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      while (i >= cuts[module]) ++module;
      const OpId op = graph_.topological()[i];
      rank_[op.index()] = i;
      module_[op.index()] = mirrored ? cuts.size() - 1 - module : module;
      members_[module_[op.index()]].push_back(op);
    }
    root_ = add(std::nullopt, members_.front());
  }

  /// Proves the subproblems of shortest paths. Returns the path's length, which is a bound.
  double run() {
    while (true) {
      std::vector<std::shared_ptr<const Subproblem>> open;
      const double ms = shortest(open);
      if (open.empty() || prover_.timed_out()) return ms;
      const auto nodes = static_cast<double>(nodes_.size() + 1);
      prover_.prove(open, prover_.seconds_left() * std::max(0.1, 1 / nodes));
    }
  }

 private:
  /// The operators that an output leads to in the next module, or all of the first module.
  struct Node {
    std::optional<OpId> from;
    std::vector<OpId> found;
    std::vector<OpId> outputs;
    std::vector<std::size_t> next;  ///< node by output
    /// By sorted outputs: the operators that lead to one of them.
    std::map<std::vector<OpId>, std::shared_ptr<const Subproblem>> subproblems = {};
  };

  OpId next_end(EdgeId e) const { return mirrored_ ? graph_.edge(e).from : graph_.edge(e).to; }
  std::span<const EdgeId> edges_after(OpId op) const {
    return mirrored_ ? graph_.in_edges(op) : graph_.out_edges(op);
  }
  bool leads(OpId from, OpId to) const {
    return mirrored_ ? reach_.reaches(to, from) : reach_.reaches(from, to);
  }
  bool is_output(OpId op) const {
    const auto edges = edges_after(op);
    return std::any_of(edges.begin(), edges.end(), [&](EdgeId e) {
      return module_[next_end(e).index()] > module_[op.index()];
    });
  }

  /// Returns the index of an output's node; adds it at the first call.
  std::size_t node_after(OpId output) {
    const auto known = by_output_.find(output);
    if (known != by_output_.end()) return known->second;
    std::vector<OpId> found;
    for (std::size_t p = module_[output.index()] + 1; found.empty(); ++p) {
      for (OpId op : members_[p]) {
        if (leads(output, op)) found.push_back(op);
      }
    }
    const std::size_t made = add(output, found);
    by_output_.emplace(output, made);
    return made;
  }

  std::size_t add(std::optional<OpId> from, const std::vector<OpId>& found) {
    Node node{from, found, {}, {}};
    for (OpId op : found) {
      if (!is_output(op)) continue;
      node.outputs.push_back(op);
      node.next.push_back(node_after(op));
    }
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  const std::shared_ptr<const Subproblem>& subproblem(Node& node, std::vector<OpId> outputs) {
    std::sort(outputs.begin(), outputs.end());
    std::shared_ptr<const Subproblem>& made = node.subproblems[outputs];
    if (made) return made;
    std::vector<Member> members;
    for (OpId op : node.found) {
      // Edges lead forward, so no path leaves the module that both are in.
      const auto counts = [&](OpId output) { return output == op || leads(op, output); };
      if (outputs.empty() || std::any_of(outputs.begin(), outputs.end(), counts)) {
        members.push_back({op});
      }
    }
    if (node.from) members.push_back({*node.from, {}, true});
    std::sort(members.begin(), members.end(), [&](const Member& a, const Member& b) {
      return rank_[a.op.index()] < rank_[b.op.index()];
    });
    return made = std::make_shared<const Subproblem>(costs_, std::move(members));
  }

  double low_ms(const Subproblem& subproblem) {
    const Proof* proof = prover_.known(subproblem);
    return proof != nullptr ? proof->low_ms : prover_.quick_bound_ms(subproblem);
  }

  /// D of a node, and the output whose D is the least in the largest sum.
  struct Length {
    double ms = 0;
    std::optional<std::size_t> least = {};
  };

  /// Computes a node's D from `rest`, the lengths of the nodes that it leads to. Adds all its
  /// subproblems to `subproblems` unless that is null.
  Length length(Node& node, const std::vector<double>& rest,
                std::vector<std::shared_ptr<const Subproblem>>* subproblems) {
    std::vector<std::size_t> order(node.outputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return rest[node.next[a]] > rest[node.next[b]];
    });
    if (order.empty()) {
      const auto& all = subproblem(node, {});
      if (subproblems != nullptr) subproblems->push_back(all);
      return {low_ms(*all), {}};
    }
    Length best{-1, {}};
    std::vector<OpId> chosen;
    for (std::size_t i = 0; i < order.size(); ++i) {
      chosen.push_back(node.outputs[order[i]]);
      if (i >= kMaxChoices && i + 1 < order.size()) continue;
      const auto& some = subproblem(node, chosen);
      if (subproblems != nullptr) subproblems->push_back(some);
      const double ms = low_ms(*some) + rest[node.next[order[i]]];
      if (ms > best.ms) best = {ms, order[i]};
    }
    return best;
  }

  /// Returns the root's length; adds unproved subproblems of its path to `open`.
  double shortest(std::vector<std::shared_ptr<const Subproblem>>& open) {
    std::vector<double> rest;
    std::vector<std::optional<std::size_t>> least;
    for (Node& node : nodes_) {
      const Length found = length(node, rest, nullptr);
      rest.push_back(found.ms);
      least.push_back(found.least);
    }
    for (std::size_t at = root_;; at = nodes_[at].next[*least[at]]) {
      std::vector<std::shared_ptr<const Subproblem>> subproblems;
      length(nodes_[at], rest, &subproblems);
      for (auto& subproblem : subproblems) {
        if (prover_.known(*subproblem) == nullptr) open.push_back(std::move(subproblem));
      }
      if (!least[at]) return rest[root_];
    }
  }

  const Graph& graph_;
  const CostModel& costs_;
  const Reachability& reach_;
  bool mirrored_;
  Prover& prover_;
  std::vector<std::size_t> rank_, module_;  ///< by OpId
  std::vector<std::vector<OpId>> members_;  ///< by module
  std::vector<Node> nodes_;
  std::map<OpId, std::size_t> by_output_;
  std::size_t root_ = 0;
};

}  // namespace

double module_bound_ms(const CostModel& costs, std::size_t channels, Prover& prover,
                       std::span<const std::size_t> sizes) {
  const Graph& graph = costs.graph();
  if (graph.size() == 0 || graph.size() > kMaxOperatorsOfReachability) return 0;
  const Reachability reach(graph);
  double best_ms = 0;
  for (const std::size_t size : sizes) {
    const auto cuts = cuts_along(graph, graph.topological(), size, channels);
    for (const bool mirrored : {false, true}) {
      if (prover.timed_out()) return best_ms;
      best_ms = std::max(best_ms, BoundPath(costs, reach, cuts, mirrored, prover).run());
    }
    if (cuts.size() == 1) break;
  }
  return best_ms;
}

}  // namespace hios::scheduler::split
