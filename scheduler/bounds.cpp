#include "scheduler/bounds.h"

#include <algorithm>
#include <limits>
#include <map>

// Both bounds rest on a share of a stage's cost that each of its operators can be charged with
// whatever the stage. Let t(v) be v's time on device d, t(X) the sum over operators X.
//
// Path share f_d(v), such that cost(S) >= f(X) for every stage S on d and every path's part X of S.
// X lies in one group, since groups are independent; let L(S) be the longest group, so t(X) <=
// L(S).
//  - One group, or a serial stage: cost(S) >= t(X), f = t.
//  - Overlap, 0 <= w <= 1: cost(S) = w·Σt + (1−w)·max(Σ t·u, L) >= w·L + (1−w)·L = L(S), f = t.
//  - Measured: cost(S) is anything. f_d(v) = t(v)·min(1, min cost(S)/L(S) over measured stages S
//  that
//    contain v's signature), so f(X) <= t(X)·cost(S)/L(S) <= cost(S).
//  - Not measured in a profile: a serial sum, or batches, each serial or measured; X lies in one
//    batch, whose cost is at least f(X) by the above.
// The stages that a path visits run one after the other, so latency >= the sum of f over the path,
// where f(v) = min over the devices that can run v of f_d(v).
//
// Work share h_d(v), such that cost(S) >= h(S): the same with all of S in the place of X and W(S),
// the sum of all times, in the place of L(S); under overlap cost(S) >= w·Σt + (1−w)·Σ t·u, and u <=
// 1 makes that a share of stages of one group too. M devices are busy for M·latency at most, so
// latency >= Σ_v min_d h_d(v) / M.
//
// On a device with one stream there are no stages of two groups, and both shares are t. Neither
// bound counts transfers. tests/scheduler/oracle_test.cpp compares both with brute force.

namespace hios::scheduler {
namespace {

struct Shares {
  double path = 1;
  double work = 1;
};

/// What is left of an operator's time in the cheapest measured stage, by signature.
using MeasuredShares = std::map<std::string_view, Shares, std::less<>>;

MeasuredShares measured_shares(const Configuration& configuration, int streams) {
  MeasuredShares shares;
  for (const auto& [groups, measurement] : configuration.stages) {
    if (groups.size() < 2 || groups.size() > static_cast<std::size_t>(streams)) continue;
    double longest = 0, all = 0;
    bool known = true;
    for (const auto& group : groups) {
      double length = 0;
      for (const std::string& signature : group) {
        const auto found = configuration.operators.find(signature);
        known = known && found != configuration.operators.end();
        if (known) length += found->second.ms;
      }
      longest = std::max(longest, length);
      all += length;
    }
    if (!known || longest <= 0) continue;  // not this graph's; or no time that could shrink
    for (const auto& group : groups) {
      for (const std::string& signature : group) {
        Shares& share = shares[signature];
        share.path = std::min(share.path, measurement.ms / longest);
        share.work = std::min(share.work, measurement.ms / all);
      }
    }
  }
  return shares;
}

Shares rule_shares(const Graph& graph, OpId op) {
  const StageCostRule& rule = graph.stage_cost();
  if (rule.kind == StageCostRule::Kind::kSerial) return {};
  return {1, rule.weight + (1 - rule.weight) * graph.op(op).utilization};
}

struct Floors {
  std::vector<double> path_ms, work_ms;  // by operator: the least over all devices
};

Floors floors(const Graph& graph, const CostModel& costs) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Floors least{std::vector<double>(graph.size(), kInfinity),
               std::vector<double>(graph.size(), kInfinity)};
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    const DeviceId device(d);
    const int streams = costs.platform().device(device).streams;
    const Configuration* configuration = costs.configuration(device);
    MeasuredShares measured;
    if (configuration) measured = measured_shares(*configuration, streams);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const OpId op(i);
      if (!costs.can_run(op, device)) continue;
      Shares share;
      if (configuration) {
        const auto found = measured.find(graph.op(op).signature);
        if (found != measured.end()) share = found->second;
      } else if (streams > 1) {
        share = rule_shares(graph, op);
      }
      const double ms = costs.operator_ms(op, device);
      least.path_ms[i] = std::min(least.path_ms[i], ms * share.path);
      least.work_ms[i] = std::min(least.work_ms[i], ms * share.work);
    }
  }
  return least;
}

LowerBound critical_path(const Graph& graph, const Floors& least) {
  std::vector<double> finish(graph.size(), 0);
  LowerBound bound{0, "critical_path"};
  for (OpId op : graph.topological()) {
    double ready = 0;
    for (EdgeId e : graph.in_edges(op)) {
      ready = std::max(ready, finish[graph.edge(e).from.index()]);
    }
    finish[op.index()] = ready + least.path_ms[op.index()];
    bound.ms = std::max(bound.ms, finish[op.index()]);
  }
  return bound;
}

LowerBound work(const CostModel& costs, const Floors& least) {
  double sum = 0;
  for (double ms : least.work_ms) sum += ms;
  return {sum / static_cast<double>(costs.platform().size()), "work"};
}

}  // namespace

LowerBound critical_path_bound(const Graph& graph, const CostModel& costs) {
  return critical_path(graph, floors(graph, costs));
}

LowerBound work_bound(const Graph& graph, const CostModel& costs) {
  return work(costs, floors(graph, costs));
}

LowerBound lower_bound(const Graph& graph, const CostModel& costs) {
  const Floors least = floors(graph, costs);
  const LowerBound path = critical_path(graph, least);
  const LowerBound busy = work(costs, least);
  return busy.ms > path.ms ? busy : path;
}

}  // namespace hios::scheduler
