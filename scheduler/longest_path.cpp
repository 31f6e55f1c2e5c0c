#include "scheduler/longest_path.h"

#include <algorithm>

#include "scheduler/priorities.h"
#include "scheduler/timeline.h"

// Alg. 1 of paper 001 (HIOS-LP without its intra-GPU part): the longest path among the operators
// that are not scheduled goes to one device as a whole, so that its transfers vanish; which device,
// a trial on each tells.
//
// The valid path. An operator that touches a scheduled one may only begin or end a path. So, from
// the end of the order to its beginning, best(v) is the longest valid rest of a path that v begins
// or that runs through v:
//   best(v) = t(v) + max( end(v), max over edges e = (v, w), w not scheduled, of t(e) + rest(w) )
//   rest(w) = best(w) if w touches no scheduled operator, else t(w) + end(w): w must be the last
// where end(v) is the heaviest edge from v to a scheduled operator, else 0. The path begins at the
// operator with the largest start(v) + best(v). One pass, O(V + E), where the paper's search takes
// O(V²·E).
//
// The trial. Scheduled operators and the path's are placed in priority order, each after what is
// already on its device. Those before the path's first operator keep their times, since nothing
// before them has changed; a trial ends as soon as its latency cannot be the least. Ties go to the
// lowest device. All in all O(V·(V + M·(V + E))), far less where paths are long.
//
// With devices of different abilities a path is cut after the longest beginning that some device
// can run; the rest stays unscheduled, and the cut path is valid, for its last operator may touch
// anything.
//
// Not optimal: paths are never moved again, and priorities ignore the mapping. Tests:
// longest_path_test (the paper's example, Fig. 4) and oracle_test.

namespace hios::scheduler {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Ends {
  double start_ms = 0;  ///< the heaviest edge from a scheduled operator
  double end_ms = 0;    ///< and to one
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

/// The best rest of a path from an operator on, as the essay defines it.
struct Rest {
  Ends ends;
  double best_ms = 0;
  std::optional<OpId> next;
  double as_last_ms = 0;
};

}  // namespace

ValidPath longest_valid_path(const Graph& graph, const CostModel& costs,
                             const std::vector<OpId>& order, const std::vector<bool>& scheduled) {
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

namespace {

class PathMapper {
 public:
  PathMapper(const Graph& graph, const CostModel& costs, const LongestPathOptions& options)
      : graph_(graph),
        costs_(costs),
        order_(priority_order(graph, costs)),
        position_(positions(order_)),
        scheduled_(graph.size(), false),
        device_of_(graph.size()),
        start_ms_(graph.size(), 0),
        trial_(graph, costs, options.insertion) {}

  bool done() const { return mapped_.size() == graph_.size(); }

  /// One round of Alg. 1's loop (lines 5 to 16).
  void map_next_path(const std::function<void(const PathTrial&)>& observe) {
    PathTrial round;
    round.path = longest_valid_path(graph_, costs_, order_, scheduled_);
    cut_to_ability(round.path);
    const std::size_t first = merge_into_mapped(round.path.operators);
    double least = kInfinity;
    for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
      const DeviceId device(d);
      double latency = kInfinity;
      if (can_run_all(round.path.operators, device)) {
        latency = try_on(device, round.path.operators, first, observe ? kInfinity : least);
      }
      round.latency_ms.push_back(latency);
      if (latency < least) {
        least = latency;
        round.chosen = device;
        remember_starts(first);
      }
    }
    for (OpId op : round.path.operators) device_of_[op.index()] = round.chosen;
    start_ms_ = best_start_ms_;
    if (observe) observe(round);
  }

  /// The schedule of all operators; those that are not mapped go where they end first.
  TimedSchedule finish() {
    if (!done()) return {list_schedule(graph_, costs_, order_, device_of_), true};
    trial_.clear();
    for (OpId op : mapped_) trial_.place(op, *device_of_[op.index()]);
    return {trial_.schedule(), false};
  }

 private:
  bool can_run_all(const std::vector<OpId>& operators, DeviceId device) const {
    return std::all_of(operators.begin(), operators.end(),
                       [&](OpId op) { return costs_.can_run(op, device); });
  }

  void cut_to_ability(ValidPath& path) const {
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

  /// Adds the path to the mapped operators, in priority order; returns where it begins there.
  std::size_t merge_into_mapped(const std::vector<OpId>& path) {
    const auto by_priority = [&](OpId a, OpId b) {
      return position_[a.index()] < position_[b.index()];
    };
    const std::size_t before = mapped_.size();
    for (OpId op : path) {
      mapped_.push_back(op);
      scheduled_[op.index()] = true;
    }
    std::inplace_merge(mapped_.begin(), mapped_.begin() + static_cast<long>(before), mapped_.end(),
                       by_priority);
    return static_cast<std::size_t>(
        std::lower_bound(mapped_.begin(), mapped_.end(), path.front(), by_priority) -
        mapped_.begin());
  }

  /// The latency with the path on `device`, or infinity once it is at least `limit`.
  double try_on(DeviceId device, const std::vector<OpId>& path, std::size_t first, double limit) {
    for (OpId op : path) device_of_[op.index()] = device;
    trial_.clear();
    for (std::size_t i = 0; i < first; ++i) {
      trial_.place_at(mapped_[i], *device_of_[mapped_[i].index()], start_ms_[mapped_[i].index()]);
    }
    for (std::size_t i = first; i < mapped_.size(); ++i) {
      trial_.place(mapped_[i], *device_of_[mapped_[i].index()]);
      if (trial_.latency_ms() >= limit) return kInfinity;
    }
    return trial_.latency_ms();
  }

  void remember_starts(std::size_t first) {
    best_start_ms_ = start_ms_;
    for (std::size_t i = first; i < mapped_.size(); ++i) {
      best_start_ms_[mapped_[i].index()] = trial_.start_ms(mapped_[i]);
    }
  }

  const Graph& graph_;
  const CostModel& costs_;
  std::vector<OpId> order_;
  std::vector<std::size_t> position_;  // in order_, by operator
  std::vector<bool> scheduled_;        // by operator
  std::vector<OpId> mapped_;           // the scheduled ones in priority order
  std::vector<std::optional<DeviceId>> device_of_;
  std::vector<double> start_ms_, best_start_ms_;  // by operator, of the scheduled ones
  ListTimeline trial_;
};

}  // namespace

TimedSchedule map_longest_paths(const Graph& graph, const CostModel& costs,
                                const LongestPathOptions& options,
                                const std::function<bool()>& out_of_time,
                                const std::function<void(const PathTrial&)>& observe) {
  PathMapper mapper(graph, costs, options);
  while (!mapper.done() && !(out_of_time && out_of_time())) mapper.map_next_path(observe);
  return mapper.finish();
}

}  // namespace hios::scheduler
