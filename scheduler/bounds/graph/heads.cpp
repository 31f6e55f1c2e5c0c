#include "scheduler/bounds/graph/heads.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "scheduler/bounds/graph/dominators.h"
#include "scheduler/bounds/relaxations/best_threshold.h"
#include "scheduler/bounds/relaxations/preemptive.h"
#include "scheduler/structures/numbers.h"

// A head r(v) is a lower bound on σ(v), the virtual time at which v starts (shares.cpp, 3; f and h
// are the path and the window share). An edge is cut if its ends are on different devices. For
// every ancestor x of v:
//
//  - σ(v) >= σ(x) + same(x, v), the longest path from x up to, not including, v, with transfers
//    only on edges whose ends have no device in common.
//  - If x is not on v's device, then every path from x to v has a cut edge. For an edge (x, y) of
//    such a path, either y is on x's device, and so not on v's, or (x, y) itself is cut. Hence σ(v)
//    >= σ(x) + far(x, v), far(x, v) = max over y of f(x) + min(far(y, v), c(x, y) + same(y, v)),
//    far(v, v) = ∞, since v is on its own device.
//  - Let A be ancestors on v's device. All of them end before v starts, in earlier stages or
//    earlier in v's own group. So for J in A with heads >= a and same(x, v) − f(x) >= b, the work
//    of J lies in the window [a, σ(v) − b] of one device, and σ(v) >= a + h(J) + b. This is the
//    preemptive schedule of A on one machine. (The windows' proof holds with σ(v) instead of the
//    latency: an ancestor ends at least its path before σ(v). v's own stage offers [s, σ(v)] of v's
//    group, which must hold its path shares, and these are not below the work shares.)
//
// The best choice for v is unknown, so r(v) is the minimum over all sets A of max(preemptive(A),
// largest r(x) + far(x, v) of the x outside A). This is Papadimitriou and Yannakakis's argument for
// unbounded processors, without duplication and with the work of one device. The first term grows
// with A, so some set {x : r(x) + far(x, v) > θ} is best, and a binary search over their order
// finds it.
//
// If v has an immediate dominator s (every path to v goes through s: a fork that v joins), two
// cases are distinguished, and r(v) is the smaller of their values. Let x be between s and v.
//  - s is on v's device. An x on another device than v is not on the device of s either, so it
//    starts no earlier than r(s) + far(s, x).
//  - s is not on v's device. Then it is not on the device of any x in A, which starts no earlier
//    than r(s) + far(s, x); and s itself is not in A.
// far(s, x) is computed over the inputs y of x: either y is on x's device, and so not on that of s,
// or (y, x) is cut.
//
// Contention::kAllDevices adds the preemptive schedule of all ancestors at the speed of all
// devices: in any window [a, σ(v) − b], a device of speed s (device_speeds(): shares are the
// minimum over all devices) processes at most s times the window's length.
//
// Considering only some ancestors, with the edges among them and v, drops some terms of the maxima
// and so leaves a lower bound. Tails are the heads of the reversed graph: with time reversed,
// stages still wait for all of their inputs, and σ and τ are exchanged.

namespace hios::scheduler {
namespace {

class HeadFinder {
 public:
  HeadFinder(const BoundGraph& graph, Contention contention, std::size_t ancestors)
      : graph_(graph),
        contention_(contention),
        limit_(ancestors),
        speed_(std::accumulate(graph.speeds.begin(), graph.speeds.end(), 0.0)),
        dominator_(immediate_dominators(graph, ancestors)),
        head_(graph.size(), 0),
        to_v_(graph.size()),
        from_fork_(graph.size()),
        reached_from_(graph.size(), kNone) {}

  std::vector<double> run(const Deadline& deadline) {
    constexpr std::size_t kBetweenChecks = 256;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if (deadline.expired_at(v, kBetweenChecks)) break;
      collect_ancestors(v);
      if (ancestors_.empty()) continue;
      double least = 0;
      for (std::size_t x : ancestors_) least = std::max(least, head_[x] + to_v_[x].same);
      head_[v] =
          std::max(least, fork_is_reached(v) ? through_fork(v, least) : share_or_send(v, least));
      if (contention_ == Contention::kAllDevices) {
        head_[v] = std::max(head_[v], all_devices());
      }
    }
    return std::move(head_);
  }

 private:
  static constexpr std::size_t kNone = kNoDominator;

  /// Distances from the start of one operator to that of another: in any case, and if they are on
  /// different devices.
  struct Distance {
    double same = 0;
    double far = 0;
  };

  /// The device of v's immediate dominator.
  enum class Fork { kNone, kWithV, kElsewhere };

  /// Collects ancestors in reverse topological order and fills to_v_. All paths from an ancestor to
  /// v are known before it is visited.
  void collect_ancestors(std::size_t v) {
    ancestors_.clear();
    std::priority_queue<std::size_t> found;
    const auto visit_inputs = [&](std::size_t op, Distance from_op) {
      for (const Arc& arc : graph_.edges.inputs(op)) {
        if (reached_from_[arc.other] != v) {
          reached_from_[arc.other] = v;
          to_v_[arc.other] = {};
          found.push(arc.other);
        }
        lengthen(to_v_[arc.other], graph_.path_ms[arc.other], arc, from_op);
      }
    };
    visit_inputs(v, {0, kInfinity});
    while (!found.empty() && ancestors_.size() < limit_) {
      const std::size_t op = found.top();
      found.pop();
      ancestors_.push_back(op);
      if (graph_.colocation[op] == graph_.colocation[v]) {
        to_v_[op].far = kInfinity;
      }
      visit_inputs(op, to_v_[op]);
    }
  }

  /// Extends a distance over one more operator, whose share is `own`, and its arc to the rest.
  static void lengthen(Distance& distance, double own, const Arc& arc, const Distance& rest) {
    const double apart = own + arc.transfer_ms + rest.same;
    distance.same = std::max(distance.same, arc.may_share ? own + rest.same : apart);
    distance.far = std::max(distance.far, arc.may_share ? std::min(own + rest.far, apart) : apart);
  }

  bool fork_is_reached(std::size_t v) const {
    const std::size_t fork = dominator_[v];
    // all operators between them are reached
    return fork != kNoDominator && ancestors_.back() <= fork;
  }

  double through_fork(std::size_t v, double least) {
    const std::size_t fork = dominator_[v];
    measure_from_fork(fork);
    double best = kInfinity;
    if (graph_.allowed->may_share(graph_.ops[fork], graph_.ops[v]))
      best = share_or_send(v, least, Fork::kWithV);
    if (graph_.colocation[fork] != graph_.colocation[v]) {
      const double sent = std::max(least, head_[fork] + to_v_[fork].far);
      best = std::min(best, share_or_send(v, sent, Fork::kElsewhere));
    }
    return best;
  }

  /// Fills from_fork_ for the operators between the fork and the current v.
  void measure_from_fork(std::size_t fork) {
    from_fork_[fork] = {0, kInfinity};
    for (auto x = ancestors_.rbegin(); x != ancestors_.rend(); ++x) {
      if (*x <= fork) continue;
      from_fork_[*x] = {};
      for (const Arc& arc : graph_.edges.inputs(*x)) {
        lengthen(from_fork_[*x], graph_.path_ms[arc.other], arc, from_fork_[arc.other]);
      }
      if (graph_.colocation[fork] == graph_.colocation[*x]) {
        from_fork_[*x].far = kInfinity;
      }
    }
  }

  /// Returns the minimum, over the sets of operators on v's device, of the time when these have run
  /// and the outputs of the others have arrived.
  double share_or_send(std::size_t v, double least, Fork fork = Fork::kNone) {
    const AllowedDevices& allowed = *graph_.allowed;
    by_arrival_.clear();
    for (std::size_t x : ancestors_) {
      double if_with_v = head_[x], if_elsewhere = head_[x];
      if (fork != Fork::kNone && x > dominator_[v]) {
        double& not_with_fork = fork == Fork::kWithV ? if_elsewhere : if_with_v;
        not_with_fork = std::max(not_with_fork, head_[dominator_[v]] + from_fork_[x].far);
      } else if (fork != Fork::kNone && x == dominator_[v]) {
        if (fork == Fork::kElsewhere) continue;  // part of `least`
        if_elsewhere = kInfinity;
      }
      const double arrival = if_elsewhere + to_v_[x].far;
      if (!allowed.may_share(graph_.ops[x], graph_.ops[v])) {
        least = std::max(least, arrival);
      } else {
        const double tail = to_v_[x].same - graph_.path_ms[x];
        by_arrival_.push_back({arrival, {if_with_v, graph_.window_ms[x], tail}});
      }
    }
    std::sort(by_arrival_.begin(), by_arrival_.end(),
              [](const Choice& a, const Choice& b) { return a.arrival_ms > b.arrival_ms; });
    return best_threshold(
        by_arrival_.size(), least, [&](std::size_t k) { return by_arrival_[k].arrival_ms; },
        [&](std::size_t k) { return shared_work(k); });
  }

  double shared_work(std::size_t count) {
    jobs_.clear();
    for (std::size_t i = 0; i < count; ++i) jobs_.push_back(by_arrival_[i].job);
    return preemptive_ms(jobs_);
  }

  double all_devices() {
    jobs_.clear();
    for (std::size_t x : ancestors_) {
      jobs_.push_back({head_[x], graph_.window_ms[x], to_v_[x].same - graph_.path_ms[x]});
    }
    return preemptive_ms(jobs_, speed_);
  }

  struct Choice {
    double arrival_ms;  ///< at v, if on another device
    Job job;            ///< if on v's device
  };

  const BoundGraph& graph_;
  Contention contention_;
  std::size_t limit_;
  double speed_;  ///< sum over all devices
  std::vector<std::size_t> dominator_;
  std::vector<double> head_;               // by operator
  std::vector<Distance> to_v_;             // by operator: distance to the current v
  std::vector<Distance> from_fork_;        // by operator: distance from the current v's dominator
  std::vector<std::size_t> reached_from_;  // by operator: the last v that has it as an ancestor
  std::vector<std::size_t> ancestors_;
  std::vector<Choice> by_arrival_;
  std::vector<Job> jobs_;
};

}  // namespace

std::vector<double> heads(const BoundGraph& graph, Contention contention, std::size_t ancestors,
                          const Deadline& deadline) {
  if (deadline.expired()) return std::vector<double>(graph.size(), 0);
  return HeadFinder(graph, contention, ancestors).run(deadline);
}

TimeWindows time_windows(const BoundGraph& graph, Contention contention, std::size_t ancestors,
                         const Deadline& deadline) {
  TimeWindows result{heads(graph, contention, ancestors, deadline),
                     heads(reversed(graph), contention, ancestors, deadline)};
  std::reverse(result.tail.begin(), result.tail.end());
  return result;
}

std::size_t ancestor_limit(std::size_t operators, std::size_t edges) {
  constexpr std::size_t kVisits = 1'200'000, kFewest = 8;
  return std::max(kFewest, kVisits / std::max<std::size_t>(1, operators + edges));
}

}  // namespace hios::scheduler
