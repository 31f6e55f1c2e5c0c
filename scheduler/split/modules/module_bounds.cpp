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

// Parts P₁ … Pₖ, all edges within a part or to a later one. Outputs of a part are its operators
// that a later part reads. After Ghannane and Abdelfattah, "DiviML", section IV-B2, whose remark
// holds as follows. Let S be some outputs of P₁, C those operators of P₁ from which a path leads to
// one of them. The last of C to end is one of S, o say, or one that ends with it: whoever is in C
// has one of S behind it, which ends no earlier. What is left of the schedule for C alone is a
// schedule of C, so o ends no earlier than the optimum of C. All that o leads to in later parts
// starts after that: the latency is at least OPT(C) + D(o), where D(o) is what the later operators
// that o leads to take alone. Which of S is the last nobody knows: the least D(o) counts. (The
// paper has all of P₁ in the place of C. That is wrong where an operator of P₁ leads to no output
// and may run late, beside the later parts. And it has all outputs for S; but one that little
// depends on makes the least small. Outputs by D, the largest first: for each least the S that has
// most are the first some, and the largest of those sums counts.)
//
// D(o) is bounded in the same way: of what o leads to, let M be what is in the first part that has
// any, S some outputs of that part in M, C those of M from which a path leads to one of S. All of C
// starts after the end of o: D(o) ≥ OPT(C and o, which takes no time) + min D(o'). With o, tensors
// that it sends count. Where no output is in M, C is M. So there is a problem for each output and
// S, and a shortest way through them; as in chain.cpp only what it needs is proved, the rest stays
// at bounds that cost nothing.
//
// The mirror image holds for the mirrored schedule, in which every operator begins when it ended.
//
// Parts keep times by device, transfers within, labels and memory: what is left of a schedule when
// operators are taken away keeps them too. Test:
// tests/scheduler/split/modules/module_bounds_test.cpp.

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kMostChoices = 4;       // of outputs, and all of them
constexpr std::size_t kMostOperators = 5000;  // a bit for each two of them

class Way {
 public:
  Way(const CostModel& costs, const Reachability& reach, const std::vector<std::size_t>& cuts,
      bool mirrored, Prover& prover)
      : graph_(costs.graph()),
        costs_(costs),
        reach_(reach),
        mirrored_(mirrored),
        prover_(prover),
        rank_(graph_.size()),
        part_(graph_.size()),
        members_(cuts.size()) {
    std::size_t part = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      while (i >= cuts[part]) ++part;
      const OpId op = graph_.topological()[i];
      rank_[op.index()] = i;
      part_[op.index()] = mirrored ? cuts.size() - 1 - part : part;
      members_[part_[op.index()]].push_back(op);
    }
    root_ = add(std::nullopt, members_.front());
  }

  /// Proves what the shortest way needs. Its length, which is a bound.
  double run() {
    while (true) {
      std::vector<std::shared_ptr<const Piece>> open;
      const double ms = shortest(open);
      if (open.empty() || prover_.timed_out()) return ms;
      const auto nodes = static_cast<double>(nodes_.size() + 1);
      prover_.prove(open, prover_.seconds_left() * std::max(0.1, 1 / nodes));
    }
  }

 private:
  /// What an output leads to in the next part, or all of the first part.
  struct Node {
    std::optional<OpId> from;
    std::vector<OpId> found;
    std::vector<OpId> outputs;
    std::vector<std::size_t> next;  ///< one for each output
    /// By outputs, in order: those that lead to one of them.
    std::map<std::vector<OpId>, std::shared_ptr<const Piece>> pieces = {};
  };

  OpId behind(EdgeId e) const { return mirrored_ ? graph_.edge(e).from : graph_.edge(e).to; }
  std::span<const EdgeId> edges_behind(OpId op) const {
    return mirrored_ ? graph_.in_edges(op) : graph_.out_edges(op);
  }
  bool leads(OpId from, OpId to) const {
    return mirrored_ ? reach_.reaches(to, from) : reach_.reaches(from, to);
  }
  bool is_output(OpId op) const {
    const auto edges = edges_behind(op);
    return std::any_of(edges.begin(), edges.end(),
                       [&](EdgeId e) { return part_[behind(e).index()] > part_[op.index()]; });
  }

  /// What an output leads to, by number; each once.
  std::size_t behind_output(OpId output) {
    const auto known = by_output_.find(output);
    if (known != by_output_.end()) return known->second;
    std::vector<OpId> found;
    for (std::size_t p = part_[output.index()] + 1; found.empty(); ++p) {
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
      node.next.push_back(behind_output(op));
    }
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  const std::shared_ptr<const Piece>& piece(Node& node, std::vector<OpId> outputs) {
    std::sort(outputs.begin(), outputs.end());
    std::shared_ptr<const Piece>& made = node.pieces[outputs];
    if (made) return made;
    std::vector<Member> members;
    for (OpId op : node.found) {
      // Edges lead forward, so no path leaves the part that both are in.
      const auto counts = [&](OpId output) { return output == op || leads(op, output); };
      if (outputs.empty() || std::any_of(outputs.begin(), outputs.end(), counts)) {
        members.push_back({op});
      }
    }
    if (node.from) members.push_back({*node.from, {}, true});
    std::sort(members.begin(), members.end(), [&](const Member& a, const Member& b) {
      return rank_[a.op.index()] < rank_[b.op.index()];
    });
    return made = std::make_shared<const Piece>(costs_, std::move(members));
  }

  double low_ms(const Piece& piece) {
    const Proof* proof = prover_.known(piece);
    return proof != nullptr ? proof->low_ms : prover_.quick_low_ms(piece);
  }

  /// D of a node: for the largest sum, of which of its outputs the D is the least.
  struct Length {
    double ms = 0;
    std::optional<std::size_t> least = {};
  };

  /// `rest`: lengths of the nodes before it, to which it leads. All its pieces, when asked for.
  Length length(Node& node, const std::vector<double>& rest,
                std::vector<std::shared_ptr<const Piece>>* pieces) {
    std::vector<std::size_t> order(node.outputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return rest[node.next[a]] > rest[node.next[b]];
    });
    if (order.empty()) {
      const auto& all = piece(node, {});
      if (pieces != nullptr) pieces->push_back(all);
      return {low_ms(*all), {}};
    }
    Length best{-1, {}};
    std::vector<OpId> chosen;
    for (std::size_t i = 0; i < order.size(); ++i) {
      chosen.push_back(node.outputs[order[i]]);
      if (i >= kMostChoices && i + 1 < order.size()) continue;
      const auto& some = piece(node, chosen);
      if (pieces != nullptr) pieces->push_back(some);
      const double ms = low_ms(*some) + rest[node.next[order[i]]];
      if (ms > best.ms) best = {ms, order[i]};
    }
    return best;
  }

  /// The root's; and what is not proved yet on its way.
  double shortest(std::vector<std::shared_ptr<const Piece>>& open) {
    std::vector<double> rest;
    std::vector<std::optional<std::size_t>> least;
    for (Node& node : nodes_) {
      const Length found = length(node, rest, nullptr);
      rest.push_back(found.ms);
      least.push_back(found.least);
    }
    for (std::size_t at = root_;; at = nodes_[at].next[*least[at]]) {
      std::vector<std::shared_ptr<const Piece>> pieces;
      length(nodes_[at], rest, &pieces);
      for (auto& piece : pieces) {
        if (prover_.known(*piece) == nullptr) open.push_back(std::move(piece));
      }
      if (!least[at]) return rest[root_];
    }
  }

  const Graph& graph_;
  const CostModel& costs_;
  const Reachability& reach_;
  bool mirrored_;
  Prover& prover_;
  std::vector<std::size_t> rank_, part_;    ///< by OpId
  std::vector<std::vector<OpId>> members_;  ///< by part
  std::vector<Node> nodes_;
  std::map<OpId, std::size_t> by_output_;
  std::size_t root_ = 0;
};

}  // namespace

double part_bound_ms(const CostModel& costs, std::size_t channels, Prover& prover,
                     std::span<const std::size_t> sizes) {
  const Graph& graph = costs.graph();
  if (graph.size() == 0 || graph.size() > kMostOperators) return 0;
  const Reachability reach(graph);
  double best_ms = 0;
  for (const std::size_t size : sizes) {
    const auto cuts = cuts_along(graph, graph.topological(), size, channels);
    for (const bool mirrored : {false, true}) {
      if (prover.timed_out()) return best_ms;
      best_ms = std::max(best_ms, Way(costs, reach, cuts, mirrored, prover).run());
    }
    if (cuts.size() == 1) break;
  }
  return best_ms;
}

}  // namespace hios::scheduler::split
