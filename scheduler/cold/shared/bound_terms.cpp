#include "scheduler/cold/shared/bound_terms.h"

#include <utility>

#include "scheduler/bounds/bounds.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/unlimited_costs.h"
#include "scheduler/cold/bounds/load_bounds.h"
#include "scheduler/cold/bounds/sets_before.h"
#include "scheduler/cold/cold_start_bound.h"

// The bounds "loads" and "arrivals" of a cold start, written by the sets that are kept. A set that
// some device keeps need not leave a store; all others of the model must, as without a keeping
// (scheduler/cold/bounds/). So whatever is kept, and wherever:
//  - all sets have moved before the least time begins that is left after the last of them;
//  - before an operator starts, all sets of the operators before it have moved, and its own has,
//    unless it may be read in place: then it has when the operator ends;
//  - no device holds an operator's own set before the time of its load alone;
//  - with all parameters there, the model takes its bound for resident parameters.
// The first three are sums over sets of the time that the set's least bytes take over the cut
// between stores and devices, and of what is left after that. The latency of a first flow is left
// out, since it is not waited for where all sets of a term are kept: then the rest of the term
// still holds, as a path of operators. A set that devices keep twice counts once. Memory does not
// count, so that evictions, and parameters that pass through devices, are allowed for.

namespace hios::scheduler::cold {
namespace {

constexpr std::size_t kMostParts = std::size_t{1} << 22;  // of a model's terms

/// Makes the terms of one model.
class TermMaker {
 public:
  TermMaker(const Server& server, std::size_t model, const Graph& graph, const BoundGraph& whole,
            const MovedSets& moved)
      : server_(server),
        model_(model),
        graph_(graph),
        whole_(whole),
        moved_(moved),
        to_end_(times_to_end(graph, whole)) {}

  std::vector<BoundTerm> make() {
    add_loads();
    if (moved_.sets().sets().empty() || !SetsBefore::fits(graph_, moved_)) return std::move(terms_);
    const SetsBefore before(graph_, moved_);
    // In very large graphs only one in so many operators has terms.
    const std::size_t step = 1 + graph_.size() * moved_.sets().sets().size() / kMostParts;
    for (std::size_t number = 0; number < whole_.size(); number += step) {
      add_operator(number, before);
    }
    return std::move(terms_);
  }

 private:
  double moving_ms(std::size_t set) const {
    return moved_.bytes_per_ms() > 0 ? moved_.least_bytes(set) / moved_.bytes_per_ms() : 0;
  }
  BoundTerm::Part part(std::size_t set, double ms) const {
    return {server_.shared(model_, set), ms};
  }

  void add_loads() {
    if (moved_.sets().sets().empty()) return;
    BoundTerm term{least_rest_ms(graph_, moved_, to_end_)};
    for (std::size_t s = 0; s < moved_.sets().sets().size(); ++s) {
      term.parts.push_back(part(s, moving_ms(s)));
    }
    terms_.push_back(std::move(term));
  }

  void add_operator(std::size_t number, const SetsBefore& before) {
    const OpId op = whole_.ops[number];
    BoundTerm term{to_end_[op.index()]};
    for (const std::size_t set : before.before(op)) term.parts.push_back(part(set, moving_ms(set)));
    const auto own = moved_.sets().of(op);
    if (!own) {
      terms_.push_back(std::move(term));
      return;
    }
    const bool in_place = moved_.in_place(*own);
    if (!in_place) terms_.push_back({to_end_[op.index()], {part(*own, moved_.held_ms(*own))}});
    if (before.has(op, *own)) {
      terms_.push_back(std::move(term));
      return;
    }
    BoundTerm with_own = term;
    with_own.after_ms = in_place ? after_operator_ms(graph_, op, to_end_) : to_end_[op.index()];
    with_own.parts.push_back(part(*own, moving_ms(*own)));
    if (in_place) terms_.push_back(std::move(term));
    terms_.push_back(std::move(with_own));
  }

  const Server& server_;
  std::size_t model_;
  const Graph& graph_;
  const BoundGraph& whole_;
  const MovedSets& moved_;
  std::vector<double> to_end_;
  std::vector<BoundTerm> terms_;
};

}  // namespace

std::vector<BoundTerm> bound_terms(const Server& server, std::size_t model,
                                   const Deadline& deadline) {
  const UnlimitedCosts unlimited(*server.models()[model].costs);
  const CostModel& costs = unlimited.costs();
  const Graph& graph = server.graph(model);
  check_in_place(graph, costs);
  const Shares shares(graph, costs);
  AllowedDevices allowed(graph, costs);
  BoundGraphs graphs(graph, shares, allowed);
  const BoundGraph whole = graphs.whole();
  const MovedSets moved(graph, costs, {}, used_devices(graph, allowed));
  std::vector<BoundTerm> terms = TermMaker(server, model, graph, whole, moved).make();
  terms.push_back({lower_bound(graph, costs, deadline).ms});
  return terms;
}

}  // namespace hios::scheduler::cold
