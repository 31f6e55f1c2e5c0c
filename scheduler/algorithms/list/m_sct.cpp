#include "scheduler/algorithms/list/m_sct.h"

#include <algorithm>

#include "scheduler/deadline.h"
#include "scheduler/list/earliest_start.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"

// The integer program of favourite children minimises w subject to start(j) ≥ start(i) + t(i) +
// c(i, j), where c does not count for favourite pairs. It is hard to solve; the authors round its
// relaxation. A longest path is a chain, so all its free pairs can be favourites at once, and no
// choice off the path would shorten it: the step is never wrong for this path. But the rule never
// undoes a pair. O(rounds · (V + E)), a round for each path that was shortened.
//
// Times are means over devices, as in priorities. Tests:
// tests/scheduler/algorithms/baselines/baselines_test.cpp,
// tests/scheduler/list/earliest_start_test.cpp.

namespace hios::scheduler {
namespace {

class Favourites {
 public:
  Favourites(const Graph& graph, const CostModel& costs)
      : graph_(graph),
        costs_(costs),
        child_of_(graph.size()),
        parent_of_(graph.size()),
        rest_ms_(graph.size()),
        next_(graph.size()) {}

  /// Joins the free pairs of the longest path; returns false if it has none.
  bool shorten() {
    find_paths();
    std::optional<OpId> at = first_;
    bool found = false;
    for (; at && next_[at->index()]; at = next_[at->index()]) {
      const OpId to = *next_[at->index()];
      if (!is_free(*at, to)) continue;
      join(*at, to);
      found = true;
    }
    return found;
  }

  void join_the_rest() {
    find_paths();
    for (const OpId op : graph_.topological()) {
      std::optional<OpId> best;
      double best_ms = 0;
      for (const EdgeId e : graph_.out_edges(op)) {
        const OpId to = graph_.edge(e).to;
        if (!is_free(op, to)) continue;
        const double ms = costs_.mean_transfer_ms(e) + rest_ms_[to.index()];
        if (best && ms <= best_ms) continue;
        best = to;
        best_ms = ms;
      }
      if (best) join(op, *best);
    }
  }

  std::vector<std::optional<OpId>> take() { return std::move(child_of_); }

 private:
  bool is_free(OpId op, OpId consumer) const {
    return !child_of_[op.index()] && !parent_of_[consumer.index()];
  }
  void join(OpId op, OpId consumer) {
    child_of_[op.index()] = consumer;
    parent_of_[consumer.index()] = op;
  }

  /// Computes the longest path from each operator's start, and the next operator on it.
  void find_paths() {
    const auto topological = graph_.topological();
    double longest = -1;
    for (std::size_t i = topological.size(); i-- > 0;) {
      const OpId op = topological[i];
      double rest = 0;
      next_[op.index()].reset();
      for (const EdgeId e : graph_.out_edges(op)) {
        const OpId to = graph_.edge(e).to;
        const double way = child_of_[op.index()] == to ? 0 : costs_.mean_transfer_ms(e);
        if (next_[op.index()] && way + rest_ms_[to.index()] <= rest) continue;
        rest = way + rest_ms_[to.index()];
        next_[op.index()] = to;
      }
      rest_ms_[op.index()] = costs_.mean_operator_ms(op) + rest;
      if (rest_ms_[op.index()] < longest) continue;
      longest = rest_ms_[op.index()];
      first_ = op;
    }
  }

  const Graph& graph_;
  const CostModel& costs_;
  std::vector<std::optional<OpId>> child_of_, parent_of_;
  std::vector<double> rest_ms_;
  std::vector<std::optional<OpId>> next_;
  std::optional<OpId> first_;
};

/// Returns the longest transfer of the tensors between the two.
double travel_ms(const Graph& graph, const CostModel& costs, OpId from, OpId to) {
  double longest = 0;
  for (const EdgeId e : graph.out_edges(from)) {
    if (graph.edge(e).to == to) longest = std::max(longest, costs.mean_transfer_ms(e));
  }
  return longest;
}

}  // namespace

std::vector<std::optional<OpId>> favourite_children(const Graph& graph, const CostModel& costs,
                                                    const Deadline& deadline) {
  Favourites favourites(graph, costs);
  while (!deadline.expired() && favourites.shorten()) continue;
  favourites.join_the_rest();
  return favourites.take();
}

TimedSchedule schedule_m_sct(const Graph& graph, const CostModel& costs, const Deadline& deadline) {
  const auto favourites = favourite_children(graph, costs, deadline);
  const std::vector<OpId> order = priority_order(graph, costs);
  EarliestStart placed(graph, costs, order);
  for (std::size_t count = 0; !placed.is_done(); ++count) {
    if (deadline.expired_at(count, kOperatorsPerCheck)) {
      return {list_schedule(graph, costs, order, placed.devices()), true};
    }
    const auto choice = placed.next();
    if (!choice) {
      const auto packed = pack_operators(graph, costs, "m-sct", deadline);
      return {list_schedule(graph, costs, order, packed), false};
    }
    placed.place(*choice);
    const auto& child = favourites[choice->op.index()];
    if (!child) continue;
    placed.hold(choice->device, *child,
                placed.finish_ms(choice->op) + travel_ms(graph, costs, choice->op, *child));
  }
  return {placed.schedule(), false};
}

}  // namespace hios::scheduler
