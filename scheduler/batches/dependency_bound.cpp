#include "scheduler/batches/dependency_bound.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "scheduler/structures/numbers.h"

// Let L parts of the inputs pass through operator v, A be v with everything before it, D everything
// after it. Let T(b) be the time at which v has ended for b parts, in one batch or several.
//  - The first b parts have passed A by T(b). So T(b) is at least the work of b parts of A, shared
//    by all devices, and at least the longest path to v of one part.
//  - Before T(b), v has ended for at most b − 1 parts. So the others, at least L − b + 1, pass D
//    after T(b): at least their work of D, shared by all devices, and the longest path after v.
// The sum is a bound, for every v and b. A cut between modules with one channel is the operator
// through which it leads; with several channels, each operator alone still gives a bound.
//
// A part takes its least share of any batch, min t(k) / k, of the devices' work, but a path pays
// whole batches: min t(k). On different devices, work is shared as in bounds/lagrangian.cpp: with
// multipliers y of sum 1, an operator's work is at least min over devices of y·share.
//
// Devices with several streams may run groups at the same time and make an operator's part of a
// stage cheaper, but for serial stage costs. There the bound is 0.
//
// Test: tests/scheduler/batches/divided_test.cpp (below the optimum over all divisions).

namespace hios::scheduler {
namespace {

constexpr std::size_t kMostOperatorsOfDependencies = 2000;
constexpr int kMultiplierRounds = 40;

class DependencyBound {
 public:
  DependencyBound(const DivisibleProblem& problem, const SizedTimes& times)
      : graph_(*problem.graphs->whole()),
        times_(times),
        devices_(problem.platform->size()),
        alone_ms_(graph_.size(), kInfinity),
        share_ms_(graph_.size() * devices_, kInfinity) {
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      for (std::size_t d = 0; d < devices_; ++d) fill(OpId(v), DeviceId(d));
    }
  }

  double run() {
    double best = 0;
    const auto [before, after] = paths();
    std::vector<double> multipliers(devices_, 1 / static_cast<double>(devices_));
    std::vector<double> work = work_of(multipliers);
    best = std::max(best, bound(before, after, work));
    double most = sum(work);
    for (int round = 0; round < kMultiplierRounds; ++round) {
      update(multipliers, 1 / (1 + 0.25 * round));
      std::vector<double> other = work_of(multipliers);
      if (sum(other) <= most) continue;
      most = sum(other);
      work = std::move(other);
    }
    return std::max(best, bound(before, after, work));
  }

 private:
  void fill(OpId op, DeviceId device) {
    for (std::size_t parts = 1; parts <= times_.parts(); ++parts) {
      const double ms = times_.operator_ms(op, parts, device);
      double& share = share_ms_[op.index() * devices_ + device.index()];
      alone_ms_[op.index()] = std::min(alone_ms_[op.index()], ms);
      share = std::min(share, ms / static_cast<double>(parts));
    }
  }

  /// Returns the longest path to each operator, with it, and the longest after it.
  std::pair<std::vector<double>, std::vector<double>> paths() const {
    std::vector<double> before(graph_.size(), 0), after(graph_.size(), 0);
    const auto order = graph_.topological();
    for (const OpId op : order) {
      double& longest = before[op.index()];
      for (const EdgeId e : graph_.in_edges(op)) {
        longest = std::max(longest, before[graph_.edge(e).from.index()]);
      }
      longest += alone_ms_[op.index()];
    }
    for (std::size_t i = order.size(); i-- > 0;) {
      for (const EdgeId e : graph_.out_edges(order[i])) {
        const std::size_t to = graph_.edge(e).to.index();
        after[order[i].index()] = std::max(after[order[i].index()], alone_ms_[to] + after[to]);
      }
    }
    return {std::move(before), std::move(after)};
  }

  std::vector<double> work_of(const std::vector<double>& multipliers) const {
    std::vector<double> work(graph_.size(), kInfinity);
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      for (std::size_t d = 0; d < devices_; ++d) {
        const double share = share_ms_[v * devices_ + d];
        if (std::isfinite(share)) work[v] = std::min(work[v], multipliers[d] * share);
      }
      if (!std::isfinite(work[v])) work[v] = 0;  // no schedule at all
    }
    return work;
  }

  static double sum(const std::vector<double>& all) {
    double sum = 0;
    for (const double ms : all) sum += ms;
    return sum;
  }

  /// Raises the multipliers of devices that operators prefer.
  void update(std::vector<double>& multipliers, double step) const {
    std::vector<double> load(devices_, 0);
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      std::size_t cheapest = devices_;
      for (std::size_t d = 0; d < devices_; ++d) {
        const double share = share_ms_[v * devices_ + d];
        if (!std::isfinite(share)) continue;
        if (cheapest == devices_ ||
            multipliers[d] * share < multipliers[cheapest] * share_ms_[v * devices_ + cheapest]) {
          cheapest = d;
        }
      }
      if (cheapest < devices_) load[cheapest] += share_ms_[v * devices_ + cheapest];
    }
    const double mean = sum(load) / static_cast<double>(devices_);
    if (!(mean > 0)) return;
    for (std::size_t d = 0; d < devices_; ++d) {
      multipliers[d] *= std::exp(step * (std::min(4.0, load[d] / mean) - 1));
    }
    const double all = sum(multipliers);
    for (double& multiplier : multipliers) multiplier /= all;
  }

  double bound(const std::vector<double>& before, const std::vector<double>& after,
               const std::vector<double>& work) const {
    double best = 0;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const double work_before = reached_ms(OpId(v), work, false);
      const double work_after = reached_ms(OpId(v), work, true) - work[v];
      for (std::size_t b = 1; b <= times_.parts(); ++b) {
        const auto load = static_cast<double>(b);
        const double rest = static_cast<double>(times_.parts()) - load + 1;
        best = std::max(
            best, std::max(before[v], load * work_before) + std::max(after[v], rest * work_after));
      }
    }
    return best;
  }

  /// Returns the work of an operator and of all that are reached from it along edges, or against
  /// them.
  double reached_ms(OpId from, const std::vector<double>& work, bool along) const {
    std::vector<bool> reached(graph_.size(), false);
    std::vector<OpId> open = {from};
    reached[from.index()] = true;
    double sum = 0;
    while (!open.empty()) {
      const OpId op = open.back();
      open.pop_back();
      sum += work[op.index()];
      for (const EdgeId e : along ? graph_.out_edges(op) : graph_.in_edges(op)) {
        const OpId next = along ? graph_.edge(e).to : graph_.edge(e).from;
        if (reached[next.index()]) continue;
        reached[next.index()] = true;
        open.push_back(next);
      }
    }
    return sum;
  }

  const Graph& graph_;
  const SizedTimes& times_;
  std::size_t devices_;
  std::vector<double> alone_ms_;  // by operator: the least time of a batch
  std::vector<double> share_ms_;  // operator × device: the least share of a part
};

}  // namespace

double dependency_bound_ms(const DivisibleProblem& problem, const SizedTimes& times) {
  const Graph& graph = *problem.graphs->whole();
  if (graph.size() > kMostOperatorsOfDependencies) return 0;
  const auto several = [](const Device& device) { return device.streams > 1; };
  if (graph.stage_cost().kind != StageCostRule::Kind::kSerial &&
      std::ranges::any_of(problem.platform->devices(), several)) {
    return 0;
  }
  return DependencyBound(problem, times).run();
}

}  // namespace hios::scheduler
