#include "support/oracles/plain_longest_path.h"

#include <algorithm>

#include "scheduler/list/priorities.h"
#include "scheduler/structures/numbers.h"

// Kundu and Shu, HIOS, Alg. 1 literally: in each round the longest valid path of the whole graph is
// searched from scratch, and a trial on a device times all scheduled operators from the path's
// first one on. Simple and quadratic: the oracle of scheduler/algorithms/hios/longest_path.
//
// best(v) is the longest valid rest of a path that starts at v or goes through v:
//   best(v) = t(v) + max( end(v), max over edges e = (v, w), w not scheduled, of t(e) + rest(w) )
//   rest(w) = best(w) if w touches no scheduled operator, else t(w) + end(w): w must be the last
// end(v) is the heaviest edge from v to a scheduled operator, or 0. The path starts at the operator
// with the largest start(v) + best(v), the first of the order among equals.

namespace hios::test {
namespace {

using scheduler::kInfinity;
using scheduler::ListTimeline;
using scheduler::LongestPathOptions;
using scheduler::priority_order;
using scheduler::ValidPath;

struct Ends {
  double start_ms = 0;  ///< the heaviest edge from a scheduled operator
  double end_ms = 0;    ///< the heaviest edge to a scheduled operator
  bool touches = false;
};

Ends ends_of(const Graph& graph, const CostModel& costs, OpId op,
             const std::vector<bool>& scheduled) {
  Ends ends;
  for (EdgeId e : graph.in_edges(op)) {
    if (!scheduled[graph.edge(e).from.index()]) continue;
    ends.touches = true;
    ends.start_ms = std::max(ends.start_ms, costs.mean_transfer_ms(e));
  }
  for (EdgeId e : graph.out_edges(op)) {
    if (!scheduled[graph.edge(e).to.index()]) continue;
    ends.touches = true;
    ends.end_ms = std::max(ends.end_ms, costs.mean_transfer_ms(e));
  }
  return ends;
}

/// The best rest of a path from an operator on, as defined above.
struct Rest {
  Ends ends;
  double best_ms = 0;
  std::optional<OpId> next;
  double as_last_ms = 0;
};

ValidPath plain_longest_valid_path(const Graph& graph, const CostModel& costs,
                                   const std::vector<OpId>& order,
                                   const std::vector<bool>& scheduled) {
  std::vector<Rest> rests(graph.size());
  std::optional<OpId> first;
  double longest = 0;
  for (std::size_t i = order.size(); i-- > 0;) {
    const OpId op = order[i];
    if (scheduled[op.index()]) continue;
    Rest& rest = rests[op.index()];
    rest.ends = ends_of(graph, costs, op, scheduled);
    double beyond = rest.ends.end_ms;
    for (EdgeId e : graph.out_edges(op)) {
      const OpId to = graph.edge(e).to;
      if (scheduled[to.index()]) continue;
      const Rest& after = rests[to.index()];
      const double length =
          costs.mean_transfer_ms(e) + (after.ends.touches ? after.as_last_ms : after.best_ms);
      if (length > beyond || (length == beyond && !rest.next)) {
        beyond = length;
        rest.next = to;
      }
    }
    rest.best_ms = costs.mean_operator_ms(op) + beyond;
    rest.as_last_ms = costs.mean_operator_ms(op) + rest.ends.end_ms;
    const double length = rest.ends.start_ms + rest.best_ms;
    if (!first || length >= longest) {
      first = op;
      longest = length;
    }
  }
  ValidPath path{{*first}, longest};
  std::optional<OpId> next = rests[first->index()].next;
  while (next) {
    path.operators.push_back(*next);
    const Rest& rest = rests[next->index()];
    next = rest.ends.touches ? std::nullopt : rest.next;
  }
  return path;
}

class PathMapper {
 public:
  PathMapper(const Graph& graph, const CostModel& costs, const LongestPathOptions& options)
      : graph_(graph),
        costs_(costs),
        order_(priority_order(graph, costs)),
        scheduled_(graph.size(), false),
        device_of_(graph.size()),
        trial_(graph, costs, options.insertion) {}

  bool done() const {
    return std::all_of(scheduled_.begin(), scheduled_.end(), [](bool is) { return is; });
  }

  /// Runs one round of Alg. 1's loop (lines 5 to 16).
  void map_next_path() {
    ValidPath path = plain_longest_valid_path(graph_, costs_, order_, scheduled_);
    trim_to_one_device(path);
    for (OpId op : path.operators) scheduled_[op.index()] = true;
    double least = kInfinity;
    DeviceId chosen;
    for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
      if (!can_run_all(path.operators, DeviceId(d))) continue;
      const double latency = try_on(DeviceId(d), path.operators);
      if (latency >= least) continue;
      least = latency;
      chosen = DeviceId(d);
    }
    try_on(chosen, path.operators);
  }

  Schedule schedule() const { return trial_.schedule(); }

 private:
  bool can_run_all(const std::vector<OpId>& operators, DeviceId device) const {
    return std::all_of(operators.begin(), operators.end(),
                       [&](OpId op) { return costs_.can_run(op, device); });
  }

  /// Trims the path to its longest prefix that some device can run.
  void trim_to_one_device(ValidPath& path) const {
    std::size_t longest = 0;
    for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
      std::size_t length = 0;
      while (length < path.operators.size() &&
             costs_.can_run(path.operators[length], DeviceId(d))) {
        ++length;
      }
      longest = std::max(longest, length);
    }
    path.operators.resize(longest);
  }

  /// Returns the latency of all scheduled operators with the path on `device`.
  double try_on(DeviceId device, const std::vector<OpId>& path) {
    for (OpId op : path) device_of_[op.index()] = device;
    trial_.clear();
    for (OpId op : order_) {
      if (scheduled_[op.index()]) trial_.place(op, *device_of_[op.index()]);
    }
    return trial_.latency_ms();
  }

  const Graph& graph_;
  const CostModel& costs_;
  std::vector<OpId> order_;
  std::vector<bool> scheduled_;  // by operator
  std::vector<std::optional<DeviceId>> device_of_;
  ListTimeline trial_;
};

}  // namespace

Schedule plain_longest_paths(const Graph& graph, const CostModel& costs,
                             const LongestPathOptions& options) {
  PathMapper mapper(graph, costs, options);
  while (!mapper.done()) mapper.map_next_path();
  return mapper.schedule();
}

}  // namespace hios::test
