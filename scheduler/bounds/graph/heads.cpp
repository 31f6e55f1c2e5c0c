#include "scheduler/bounds/graph/heads.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>

#include "scheduler/bounds/graph/dominators.h"
#include "scheduler/bounds/relaxations/preemptive.h"
#include "scheduler/bounds/relaxations/threshold.h"

// A head r(v) is a lower bound on σ(v), the virtual time at which v begins (shares.cpp, 3; f and h
// are the path and the window share). For every ancestor x of v:
//
//  - σ(v) >= σ(x) + same(x, v), the longest path from x up to, not including, v, with transfers
//    only on edges whose ends have no device in common.
//  - If x is not on v's device, then on every path from x to v some edge is paid for. For an edge
//    (x, y) of such a path: either y is with x, and so not with v either, or (x, y) itself is paid:
//    σ(v) >= σ(x) + far(x, v), far(x, v) = max over y of f(x) + min(far(y, v), c(x, y) +
//    same(y, v)), far(v, v) = ∞: v is with itself.
//  - Let A be ancestors on v's device. All of them end before v begins, in earlier stages or
//    earlier in v's own group. So for J in A with heads >= a and same(x, v) − f(x) >= b, the work
//    of J lies in the window [a, σ(v) − b] of one device, and σ(v) >= a + h(J) + b: the preemptive
//    schedule of A on one machine (the windows' proof holds with σ(v) in the place of the latency:
//    the end of an ancestor is at least its path before σ(v); v's own stage offers [s, σ(v)] of v's
//    group, whose path shares, which are not below the work shares, must fit in).
//
// What is best for v is unknown, so r(v) is the least over all sets A of max(preemptive(A), largest
// r(x) + far(x, v) of the x outside A): Papadimitriou and Yannakakis's argument for unbounded
// processors, without duplication and with the work of one device. The first term grows with A, so
// some set {x : r(x) + far(x, v) > θ} is best, and a binary search over their order finds it.
//
// Where v has an immediate dominator s (every path to v comes through s: a fork that v joins), the
// two cases are told apart, and r(v) is the lesser of them. Let x be between s and v.
//  - s is on v's device. An x that is not with v is not with s either, so it begins no sooner than
//    r(s) + far(s, x).
//  - s is not on v's device. Nor is it on that of any x in A, which begins no sooner than r(s) +
//    far(s, x); and s itself is not in A.
// far(s, x) by the inputs y of x: either y is with x, and so not with s, or (y, x) is paid.
//
// Contention::kAllDevices adds the preemptive schedule of all ancestors at the speed of all
// devices: in any window [a, σ(v) − b], a device of speed s (device_speeds(): shares are the least
// over all devices) does at most s times its length of them.
//
// Taking only some ancestors, with the edges among them and v, gives up some of the maxima and so
// leaves a lower bound. Tails are the heads of the reversed graph: with time reversed, stages
// still wait for all of their inputs, and σ and τ change places.

namespace hios::scheduler {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
        met_by_(graph.size(), kNobody) {}

  std::vector<double> run(const Deadline& deadline) {
    constexpr std::size_t kBetweenLooks = 256;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if (deadline.expired_at(v, kBetweenLooks)) break;
      collect_ancestors(v);
      if (ancestors_.empty()) continue;
      double least = 0;
      for (std::size_t x : ancestors_) least = std::max(least, head_[x] + to_v_[x].same);
      head_[v] = std::max(least, fork_is_met(v) ? through_fork(v, least) : share_or_send(v, least));
      if (contention_ == Contention::kAllDevices) {
        head_[v] = std::max(head_[v], all_devices());
      }
    }
    return std::move(head_);
  }

 private:
  static constexpr std::size_t kNobody = kNoDominator;

  /// From the beginning of one operator to that of another: anyhow, and if not on one device.
  struct Distance {
    double same = 0;
    double far = 0;
  };

  /// Where the immediate dominator of v is.
  enum class Fork { kNone, kWithV, kElsewhere };

  /// The last ancestors in topological order, last first, so that of each, all paths to v are known
  /// before it: fills to_v_.
  void collect_ancestors(std::size_t v) {
    ancestors_.clear();
    std::priority_queue<std::size_t> found;
    const auto look_behind = [&](std::size_t op, Distance from_op) {
      for (const Arc& arc : graph_.edges.inputs(op)) {
        if (met_by_[arc.other] != v) {
          met_by_[arc.other] = v;
          to_v_[arc.other] = {};
          found.push(arc.other);
        }
        lengthen(to_v_[arc.other], graph_.path_ms[arc.other], arc, from_op);
      }
    };
    look_behind(v, {0, kInfinity});
    while (!found.empty() && ancestors_.size() < limit_) {
      const std::size_t op = found.top();
      found.pop();
      ancestors_.push_back(op);
      if (graph_.home[op] == graph_.home[v]) {
        to_v_[op].far = kInfinity;
      }
      look_behind(op, to_v_[op]);
    }
  }

  /// A path over one more operator, whose share is `own`, and the arc between it and the rest.
  static void lengthen(Distance& distance, double own, const Arc& arc, const Distance& rest) {
    const double apart = own + arc.transfer_ms + rest.same;
    distance.same = std::max(distance.same, arc.may_share ? own + rest.same : apart);
    distance.far = std::max(distance.far, arc.may_share ? std::min(own + rest.far, apart) : apart);
  }

  bool fork_is_met(std::size_t v) const {
    const std::size_t fork = dominator_[v];
    return fork != kNoDominator && ancestors_.back() <= fork;  // those behind it are all met
  }

  double through_fork(std::size_t v, double least) {
    const std::size_t fork = dominator_[v];
    measure_from(fork);
    double best = kInfinity;
    if (graph_.places->may_share(graph_.ops[fork], graph_.ops[v]))
      best = share_or_send(v, least, Fork::kWithV);
    if (graph_.home[fork] != graph_.home[v]) {
      const double sent = std::max(least, head_[fork] + to_v_[fork].far);
      best = std::min(best, share_or_send(v, sent, Fork::kElsewhere));
    }
    return best;
  }

  /// Fills from_fork_ for what is between the fork and the v at work.
  void measure_from(std::size_t fork) {
    from_fork_[fork] = {0, kInfinity};
    for (auto x = ancestors_.rbegin(); x != ancestors_.rend(); ++x) {
      if (*x <= fork) continue;
      from_fork_[*x] = {};
      for (const Arc& arc : graph_.edges.inputs(*x)) {
        lengthen(from_fork_[*x], graph_.path_ms[arc.other], arc, from_fork_[arc.other]);
      }
      if (graph_.home[fork] == graph_.home[*x]) {
        from_fork_[*x].far = kInfinity;
      }
    }
  }

  /// The least, over what may be on v's device, of when that has run and the rest has arrived.
  double share_or_send(std::size_t v, double least, Fork place = Fork::kNone) {
    const Places& places = *graph_.places;
    by_arrival_.clear();
    for (std::size_t x : ancestors_) {
      double if_with_v = head_[x], if_elsewhere = head_[x];
      if (place != Fork::kNone && x > dominator_[v]) {
        double& not_with_fork = place == Fork::kWithV ? if_elsewhere : if_with_v;
        not_with_fork = std::max(not_with_fork, head_[dominator_[v]] + from_fork_[x].far);
      } else if (place != Fork::kNone && x == dominator_[v]) {
        if (place == Fork::kElsewhere) continue;  // in `least`
        if_elsewhere = kInfinity;
      }
      const double arrival = if_elsewhere + to_v_[x].far;
      if (!places.may_share(graph_.ops[x], graph_.ops[v])) {
        least = std::max(least, arrival);
      } else {
        const double tail = to_v_[x].same - graph_.path_ms[x];
        by_arrival_.push_back({arrival, {if_with_v, graph_.window_ms[x], tail}});
      }
    }
    std::sort(by_arrival_.begin(), by_arrival_.end(),
              [](const Choice& a, const Choice& b) { return a.arrival_ms > b.arrival_ms; });
    return share_or_pay(
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
    double arrival_ms;  ///< at v, if not on its device
    Job job;            ///< if on it
  };

  const BoundGraph& graph_;
  Contention contention_;
  std::size_t limit_;
  double speed_;  ///< of all devices together
  std::vector<std::size_t> dominator_;
  std::vector<double> head_;         // by operator
  std::vector<Distance> to_v_;       // by operator: to the v at work
  std::vector<Distance> from_fork_;  // by operator: from the dominator of the v at work
  std::vector<std::size_t> met_by_;  // by operator: the last v that had it as an ancestor
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

Windows windows(const BoundGraph& graph, Contention contention, std::size_t ancestors,
                const Deadline& deadline) {
  Windows result{heads(graph, contention, ancestors, deadline),
                 heads(reversed(graph), contention, ancestors, deadline)};
  std::reverse(result.tail.begin(), result.tail.end());
  return result;
}

std::size_t ancestor_limit(std::size_t operators, std::size_t edges) {
  constexpr std::size_t kLooks = 1'200'000, kFewest = 8;
  return std::max(kFewest, kLooks / std::max<std::size_t>(1, operators + edges));
}

}  // namespace hios::scheduler
