#include "scheduler/bounds/heads.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "scheduler/bounds/preemptive.h"
#include "scheduler/bounds/threshold.h"

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
//  earlier
//    in v's own group. So for J in A with heads >= a and same(x, v) − f(x) >= b, the work of J lies
//    in the window [a, σ(v) − b] of one device, and σ(v) >= a + h(J) + b: the preemptive schedule
//    of A on one machine (the windows' proof holds with σ(v) in the place of the latency: the end
//    of an ancestor is at least its path before σ(v); v's own stage offers [s, σ(v)] of v's group,
//    whose path shares, which are not below the work shares, must fit in).
//
// What is best for v is unknown, so r(v) is the least over all sets A of max(preemptive(A), largest
// r(x) + far(x, v) of the x outside A): Papadimitriou and Yannakakis's argument for unbounded
// processors, without duplication and with the work of one device. The first term grows with A, so
// some set {x : r(x) + far(x, v) > θ} is best, and a binary search over their order finds it.
//
// Contention::kAllDevices adds the preemptive schedule of all ancestors at the speed of all
// devices: in any window [a, σ(v) − b], M devices offer M times its length.
//
// Taking only some ancestors, with the edges among them and v, gives up some of the maxima and so
// leaves a lower bound. Tails are the heads of the reversed problem: turned round in time, stages
// still wait for all of their inputs, and σ and τ change places.

namespace hios::scheduler {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class HeadFinder {
 public:
  HeadFinder(const Problem& problem, Contention contention, std::size_t ancestors)
      : problem_(problem),
        contention_(contention),
        limit_(ancestors),
        head_(problem.size(), 0),
        same_(problem.size(), 0),
        far_(problem.size(), 0),
        met_by_(problem.size(), kNobody) {}

  std::vector<double> run() {
    for (std::size_t v = 0; v < problem_.size(); ++v) {
      collect_ancestors(v);
      if (ancestors_.empty()) continue;
      double least = 0;
      for (std::size_t x : ancestors_) least = std::max(least, head_[x] + same_[x]);
      head_[v] = std::max(least, share_or_send(v, least));
      if (contention_ == Contention::kAllDevices) {
        head_[v] = std::max(head_[v], all_devices());
      }
    }
    return std::move(head_);
  }

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  /// The last ancestors in topological order, last first, so that of each, all paths to v are known
  /// before it: fills same_ and far_.
  void collect_ancestors(std::size_t v) {
    ancestors_.clear();
    std::priority_queue<std::size_t> found;
    const auto look_behind = [&](std::size_t op) {
      for (const Arc& arc : problem_.inputs_of(op)) {
        if (met_by_[arc.other] == v) continue;
        met_by_[arc.other] = v;
        same_[arc.other] = far_[arc.other] = 0;
        found.push(arc.other);
      }
      for (const Arc& arc : problem_.inputs_of(op)) measure_paths(arc, op, v);
    };
    look_behind(v);
    while (!found.empty() && ancestors_.size() < limit_) {
      const std::size_t op = found.top();
      found.pop();
      ancestors_.push_back(op);
      if (problem_.placement->must_share(problem_.ops[op], problem_.ops[v])) far_[op] = kInfinity;
      look_behind(op);
    }
  }

  void measure_paths(const Arc& arc, std::size_t op, std::size_t v) {
    const double own = problem_.path_ms[arc.other];
    const double same = op == v ? 0 : same_[op];
    const double far = op == v ? kInfinity : far_[op];
    const double apart = own + arc.transfer_ms + same;
    double& same_of_other = same_[arc.other];
    double& far_of_other = far_[arc.other];
    same_of_other = std::max(same_of_other, arc.may_share ? own + same : apart);
    far_of_other = std::max(far_of_other, arc.may_share ? std::min(own + far, apart) : apart);
  }

  /// The least, over what may be on v's device, of when that has run and the rest has arrived.
  double share_or_send(std::size_t v, double least) {
    const Placement& placement = *problem_.placement;
    by_arrival_.clear();
    for (std::size_t x : ancestors_) {
      const double arrival = head_[x] + far_[x];
      const double work = problem_.window_ms[x];
      if (!placement.may_share(problem_.ops[x], problem_.ops[v])) {
        least = std::max(least, arrival);
      } else {
        by_arrival_.push_back({arrival, {head_[x], work, same_[x] - problem_.path_ms[x]}});
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
      jobs_.push_back({head_[x], problem_.window_ms[x], same_[x] - problem_.path_ms[x]});
    }
    return preemptive_ms(jobs_, static_cast<double>(problem_.devices));
  }

  struct Choice {
    double arrival_ms;  ///< at v, if not on its device
    Job job;            ///< if on it
  };

  const Problem& problem_;
  Contention contention_;
  std::size_t limit_;
  std::vector<double> head_;         // by operator
  std::vector<double> same_, far_;   // by operator: to the v at work
  std::vector<std::size_t> met_by_;  // by operator: the last v that had it as an ancestor
  std::vector<std::size_t> ancestors_;
  std::vector<Choice> by_arrival_;
  std::vector<Job> jobs_;
};

}  // namespace

std::vector<double> heads(const Problem& problem, Contention contention, std::size_t ancestors) {
  return HeadFinder(problem, contention, ancestors).run();
}

Windows windows(const Problem& problem, Contention contention, std::size_t ancestors) {
  Windows result{heads(problem, contention, ancestors),
                 heads(reversed(problem), contention, ancestors)};
  std::reverse(result.tail.begin(), result.tail.end());
  return result;
}

std::size_t ancestor_limit(std::size_t operators) {
  constexpr std::size_t kLooks = 400'000, kFewest = 8;
  return std::max(kFewest, kLooks / std::max<std::size_t>(1, operators));
}

}  // namespace hios::scheduler
