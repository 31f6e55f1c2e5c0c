#include "scheduler/split/part_bounds.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "scheduler/split/modules.h"

// Parts P₁ … Pₖ, all edges within a part or to a later one. Outputs of a part are its operators
// that a later part reads. After Ghannane and Abdelfattah, "DiviML", section IV-B2, whose remark
// holds as follows. Let C be those operators of P₁ from which a path in P₁ leads to an output. The
// last of C to end is an output, o say, or one that ends with it: whoever is in C has an output
// behind it, which is in C and ends no earlier. What is left of the schedule for C alone is a
// schedule of C, so o ends no earlier than the optimum of C. All that o leads to in later parts
// starts after that: so the latency is at least OPT(C) + D(o), where D(o) is what the later
// operators that o leads to take alone, and which output is the last nobody knows: the least of
// them counts. (The paper has all of P₁ in the place of C. That is wrong where an operator of P₁
// leads to no output and may run late, beside the later parts. And it asks for what one input of
// the later parts leads to; all that the output leads to is more.)
//
// D(o) is bounded in the same way: of what o leads to, let M be what is in the first part that has
// any, C those of M from which a path in M leads to an output of that part. All of C starts after
// the end of o; the last of C to end is an output o', and what o' leads to starts after that: D(o)
// ≥ OPT(C and o, which takes no time) + min D(o'). With o, tensors that it sends count. Where no
// output is in M, C is M. So there is a problem for each output of a part, and a shortest way
// through them; as in chain.cpp only what it needs is proved, the rest stays at bounds that cost
// nothing.
//
// The mirror image holds for the mirrored schedule, in which every operator begins when it ended.
//
// Parts keep times by device, transfers within, labels and memory: what is left of a schedule when
// operators are taken away keeps them too. Test: tests/scheduler/split/part_bounds_test.cpp.

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kMostOperators = 5000;            // a bit for each two of them
constexpr std::size_t kSizes[] = {14, 22, 32, 44, 60};  // of parts

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
      const std::vector<const Node*> way = shortest();
      std::vector<std::shared_ptr<const Piece>> open;
      double ms = 0;
      for (const Node* node : way) {
        ms += low_ms(*node);
        if (prover_.known(*node->piece) == nullptr) open.push_back(node->piece);
      }
      if (open.empty() || prover_.out_of_time()) return ms;
      const double nodes = static_cast<double>(nodes_.size() + 1);
      prover_.prove(open, prover_.seconds_left() * std::max(0.1, 1 / nodes));
    }
  }

 private:
  struct Node {
    std::shared_ptr<const Piece> piece;
    std::vector<std::size_t> next;  ///< one for each output
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
    std::vector<OpId> outputs;
    std::copy_if(found.begin(), found.end(), std::back_inserter(outputs),
                 [&](OpId op) { return is_output(op); });
    std::vector<Member> members;
    for (OpId op : found) {
      const bool counts =
          outputs.empty() || std::any_of(outputs.begin(), outputs.end(), [&](OpId output) {
            // Edges lead forward, so no path there leaves the part that both are in.
            return output == op || leads(op, output);
          });
      if (counts) members.push_back({op});
    }
    if (from) members.push_back({*from, {}, true});
    std::sort(members.begin(), members.end(), [&](const Member& a, const Member& b) {
      return rank_[a.op.index()] < rank_[b.op.index()];
    });
    Node node{std::make_shared<const Piece>(costs_, std::move(members)), {}};
    for (OpId output : outputs) node.next.push_back(behind_output(output));
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  double low_ms(const Node& node) {
    const Proof* proof = prover_.known(*node.piece);
    return proof != nullptr ? proof->low_ms : prover_.quick_low_ms(*node.piece);
  }

  /// Nodes come behind those that they lead to.
  std::vector<const Node*> shortest() {
    std::vector<double> rest;
    std::vector<std::size_t> chosen;
    for (const Node& node : nodes_) {
      double least = node.next.empty() ? 0 : std::numeric_limits<double>::infinity();
      chosen.push_back(nodes_.size());
      for (std::size_t next : node.next) {
        if (rest[next] >= least) continue;
        least = rest[next];
        chosen.back() = next;
      }
      rest.push_back(low_ms(node) + least);
    }
    std::vector<const Node*> way;
    for (std::size_t at = root_; at < nodes_.size(); at = chosen[at]) way.push_back(&nodes_[at]);
    return way;
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

double part_bound_ms(const CostModel& costs, std::size_t channels, Prover& prover) {
  const Graph& graph = costs.graph();
  if (graph.size() == 0 || graph.size() > kMostOperators) return 0;
  const Reachability reach(graph);
  double best_ms = 0;
  for (const std::size_t size : kSizes) {
    const auto cuts = cuts_along(graph, graph.topological(), size, channels);
    for (const bool mirrored : {false, true}) {
      if (prover.out_of_time()) return best_ms;
      best_ms = std::max(best_ms, Way(costs, reach, cuts, mirrored, prover).run());
    }
    if (cuts.size() == 1) break;
  }
  return best_ms;
}

}  // namespace hios::scheduler::split
