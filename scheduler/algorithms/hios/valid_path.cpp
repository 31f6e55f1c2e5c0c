#include "scheduler/algorithms/hios/valid_path.h"

#include <algorithm>

#include "scheduler/list/priorities.h"

// An operator that touches a scheduled one may only begin or end a path. So best(v), the longest
// valid path from v on, is
//   best(v) = t(v) + max( end(v), max over edges e = (v, w), w not scheduled, of t(e) + seen(w) )
//   seen(w) = best(w) if w touches no scheduled operator, else t(w) + end(w): w must be the last
// where end(v) is the heaviest edge from v to a scheduled operator, else 0. The path begins at the
// operator with the largest start(v) + best(v), found by a tree over the order's positions.
//
// When operators get scheduled, their neighbours touch one from then on. A best(v) is recomputed in
// full where an edge of v was lost or seen(w) of a successor has changed, from the end of the order
// to its beginning. So every value equals that of a search from scratch, to the last bit. Operators
// that touch a scheduled one stop the propagation, so few values change: a pass over the graph for
// the first path, very little for the thousands that follow. Tests:
// tests/scheduler/algorithms/hios/longest_path_test.cpp (all paths, one by one) and
// tests/scheduler/algorithms/hios/fast_forms_test.cpp.

namespace hios::scheduler {

ValidPathSearch::ValidPathSearch(const Graph& graph, const CostModel& costs,
                                 const std::vector<OpId>& order, bool through_touching)
    : graph_(graph),
      costs_(costs),
      order_(order),
      through_touching_(through_touching),
      position_(positions(order)),
      rests_(graph.size()),
      lengths_(graph.size()),
      changed_(graph.size()) {
  for (std::size_t i = order.size(); i-- > 0;) {
    find_rest(i);
    enter_length(i);
  }
}

void ValidPathSearch::find_rest(std::size_t position) {
  Rest& rest = rests_[position];
  const OpId op = order_[position];
  double beyond = rest.end_ms;
  rest.next = kNone;
  for (EdgeId e : graph_.out_edges(op)) {
    const std::size_t to = position_[graph_.edge(e).to.index()];
    if (rests_[to].scheduled) continue;
    const double length = costs_.mean_transfer_ms(e) + rests_[to].seen_ms;
    if (length > beyond || (length == beyond && rest.next == kNone)) {
      beyond = length;
      rest.next = to;
    }
  }
  rest.best_ms = costs_.mean_operator_ms(op) + beyond;
  rest.seen_ms = ends_paths(rest) ? costs_.mean_operator_ms(op) + rest.end_ms : rest.best_ms;
}

void ValidPathSearch::enter_length(std::size_t position) {
  const Rest& rest = rests_[position];
  lengths_.set(position, rest.scheduled ? MaxTree::kLeast : rest.start_ms + rest.best_ms);
}

ValidPath ValidPathSearch::longest() const {
  std::size_t at = lengths_.first_greatest();
  ValidPath path{{order_[at]}, lengths_.greatest()};
  for (at = rests_[at].next; at != kNone;) {
    path.operators.push_back(order_[at]);
    at = ends_paths(rests_[at]) ? kNone : rests_[at].next;
  }
  return path;
}

void ValidPathSearch::schedule(const std::vector<OpId>& operators) {
  for (OpId op : operators) {
    rests_[position_[op.index()]].scheduled = true;
    enter_length(position_[op.index()]);
  }
  const auto touch = [&](OpId neighbour) -> Rest& {
    const std::size_t position = position_[neighbour.index()];
    if (!rests_[position].scheduled) changed_.insert(position);
    rests_[position].touches = true;
    return rests_[position];
  };
  for (OpId op : operators) {
    for (EdgeId e : graph_.in_edges(op)) {
      Rest& rest = touch(graph_.edge(e).from);
      rest.end_ms = std::max(rest.end_ms, costs_.mean_transfer_ms(e));
    }
    for (EdgeId e : graph_.out_edges(op)) {
      Rest& rest = touch(graph_.edge(e).to);
      rest.start_ms = std::max(rest.start_ms, costs_.mean_transfer_ms(e));
    }
  }
  for (auto at = changed_.last_before(order_.size()); at; at = changed_.last_before(*at)) {
    changed_.erase(*at);
    const double seen_before = rests_[*at].seen_ms;
    find_rest(*at);
    enter_length(*at);
    if (rests_[*at].seen_ms == seen_before) continue;
    for (EdgeId e : graph_.in_edges(order_[*at])) {
      const std::size_t from = position_[graph_.edge(e).from.index()];
      if (!rests_[from].scheduled) changed_.insert(from);
    }
  }
}

}  // namespace hios::scheduler
