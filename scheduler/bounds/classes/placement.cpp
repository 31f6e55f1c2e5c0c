#include "scheduler/bounds/classes/placement.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/bounds/classes/assignment_dual.h"
#include "scheduler/bounds/classes/class_candidates.h"
#include "scheduler/bounds/graph/class_costs.h"
#include "scheduler/bounds/relaxations/confined.h"
#include "scheduler/bounds/relaxations/preemptive.h"
#include "scheduler/structures/numbers.h"

// A destructive bound, as that of scheduler/bounds/destructive.cpp: suppose that some schedule has
// a latency of at most T, and draw conclusions until a contradiction.
//  - An operator is not on a class where its head, share and tail exceed T
//    (classes/class_candidates.cpp, class_heads.cpp). On slow cores that is most of them.
//  - The operators that remain on one class alone need its devices (relaxations/confined.cpp).
//  - All operators together, each on one of its classes, exceed work, memory or a path by a sum of
//    these inequalities with multipliers (classes/assignment_dual.cpp). What would exceed T
//    with one operator on some class is not there, and the conclusions are drawn again.
// Small problems are divided: an operator is on one of its classes, and if each is refuted, T is.
//
// The latencies tried rise from the best of the other bounds while they are refuted; bisection
// narrows the last step. Any refuted T is a bound.

namespace hios::scheduler {
namespace {

constexpr std::size_t kMostOperatorsDivided = 40;
constexpr double kCaseWork = 100'000;  // cells visited in the cases of a latency

class PlacementSearch {
 public:
  PlacementSearch(const BoundGraph& graph, const TimeWindows& windows, const BoundContext& context,
                  const ClassCosts& costs)
      : graph_(graph),
        windows_(windows),
        context_(context),
        costs_(costs),
        heads_(costs, context.deadline),
        dual_(costs),
        work_(work_for(costs)) {}

  /// Returns true if the latency is refuted, and false once the work is used up.
  bool refuted(double latency_ms) {
    ClassCandidates candidates(graph_, costs_, windows_, &heads_);
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      if (!candidates.narrow(latency_ms)) return true;
      if (class_load_ms(candidates) > latency_ms * (1 + kRounding)) return true;
      const double bound = dual_.raise(candidates, latency_ms, context_.deadline, work_);
      if (bound > latency_ms * (1 + kRounding)) return true;
      if (work_ < 0 || context_.stopped()) break;
      if (!dual_.exclude_costly(candidates, latency_ms)) break;
    }
    if (!divides()) return false;
    candidates.leave_heads();
    double left = kCaseWork;
    return refuted_by_cases(candidates, latency_ms, left);
  }

  bool used_up() const { return (work_ < 0 && !divides()) || context_.stopped(); }

 private:
  bool divides() const { return costs_.operators <= kMostOperatorsDivided; }

  /// Divides the schedules by the class of one operator after the other.
  bool refuted_by_cases(ClassCandidates candidates, double latency_ms, double& left) {
    left -= static_cast<double>(costs_.operators + costs_.edges.size()) *
            static_cast<double>(costs_.classes());
    for (int round = 0; round < 2; ++round) {  // one may place operators that the other counts
      if (!exclude_full(candidates) || !candidates.narrow(latency_ms)) return true;
    }
    if (!exclude_full(candidates)) return true;
    const double limit = latency_ms * (1 + kRounding);
    if (dual_.bound_ms(candidates) > limit || class_load_ms(candidates) > limit) return true;
    const std::size_t v = least_certain(candidates);
    if (v == costs_.operators || left < 0) return false;
    for (std::size_t k = 0; k < costs_.classes(); ++k) {
      if (!candidates.may_be(v, k)) continue;
      ClassCandidates placed = candidates;
      placed.place(v, k);
      if (!refuted_by_cases(std::move(placed), latency_ms, left)) return false;
    }
    return true;
  }

  /// Excludes the classes that lack the memory for an operator besides those that are placed there
  /// alone. Returns false if an operator has no class left.
  bool exclude_full(ClassCandidates& candidates) const {
    for (std::size_t k = 0; k < costs_.classes(); ++k) {
      double room = costs_.capacity[k] * costs_.count[k] * (1 + kRounding);
      if (room == kInfinity) continue;
      const ClassCandidates::Set alone = ClassCandidates::Set{1} << k;
      for (std::size_t v = 0; v < costs_.operators; ++v) {
        if (candidates.classes(v) == alone) room -= costs_.bytes[v];
      }
      if (room < 0) return false;
      for (std::size_t v = 0; v < costs_.operators; ++v) {
        if (candidates.classes(v) != alone && costs_.bytes[v] > room) candidates.exclude(v, k);
      }
    }
    for (std::size_t v = 0; v < costs_.operators; ++v) {
      if (candidates.classes(v) == 0) return false;
    }
    return true;
  }

  /// Returns an operator with several classes, that with the longest share on the best of them, or
  /// the number of operators if each has one.
  std::size_t least_certain(const ClassCandidates& candidates) const {
    std::size_t chosen = costs_.operators;
    double longest = -1;
    for (std::size_t v = 0; v < costs_.operators; ++v) {
      const ClassCandidates::Set set = candidates.classes(v);
      if ((set & (set - 1)) == 0) continue;
      double least = kInfinity;
      for (std::size_t k = 0; k < costs_.classes(); ++k) {
        if (candidates.may_be(v, k)) least = std::min(least, costs_.work_ms[costs_.cell(v, k)]);
      }
      if (least <= longest) continue;
      longest = least;
      chosen = v;
    }
    return chosen;
  }

  /// Returns the bound of the operators that each class alone can run.
  double class_load_ms(const ClassCandidates& candidates) const {
    constexpr std::size_t kMostStaggered = 400;  // quadratic
    double longest = 0;
    for (std::size_t k = 0; k < costs_.classes(); ++k) {
      Confined confined;
      for (std::size_t v = 0; v < costs_.operators; ++v) {
        if (candidates.classes(v) != ClassCandidates::Set{1} << k) continue;
        confined.jobs.push_back(
            {candidates.head(v, k), costs_.window_ms[costs_.cell(v, k)], candidates.tail(v, k)});
      }
      if (confined.jobs.size() > kMostStaggered) {
        longest = std::max(longest, preemptive_ms(confined.jobs, costs_.count[k]));
        continue;
      }
      confined.speeds.assign(static_cast<std::size_t>(costs_.count[k]), 1);
      longest = std::max(longest, confined_ms(std::move(confined)));
    }
    return longest;
  }

  const BoundGraph& graph_;
  const TimeWindows& windows_;
  const BoundContext& context_;
  const ClassCosts& costs_;
  ClassHeads heads_;
  AssignmentDual dual_;
  double work_;  // that multipliers may still cost
};

}  // namespace

double placement_ms(const BoundGraph& graph, const TimeWindows& windows,
                    const BoundContext& context, double known_ms) {
  constexpr double kFirstStep = 1.0 / 256, kLargestStep = 1;
  constexpr double kPrecision = 1.0 / 1024;
  if (graph.size() == 0 || !(known_ms > 0) || context.stopped()) return 0;
  const std::optional<ClassCosts> costs = class_costs(graph, context);
  if (!costs) return 0;
  PlacementSearch search(graph, windows, context, *costs);
  const double most = 2 * serial_ms(*costs);
  double below = known_ms, step = kFirstStep;
  while (below < most && search.refuted(below * (1 + step))) {
    below *= 1 + step;
    step = std::min(2 * step, kLargestStep);
  }
  if (below >= most) return 0;
  double above = below * (1 + step);
  while (above - below > kPrecision * below && !search.used_up()) {
    const double middle = (below + above) / 2;
    (search.refuted(middle) ? below : above) = middle;
  }
  return below > known_ms ? below : 0;
}

}  // namespace hios::scheduler
