#include "scheduler/bounds/graph/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "scheduler/structures/graph_partition.h"

// Let t(v) be v's time on the device, t(X) the sum over operators X, C the cost of stage S, W(S)
// its sum of times and L(S) that of its longest group.
//
// 1. Path share f, such that C >= f(X) for every subset X of one group.
//  - One group, or a serial stage: C >= t(X), f = t.
//  - Overlap, 0 <= w <= 1: C = w·Σt + (1−w)·max(Σ t·u, L) >= w·L + (1−w)·L = L, f = t.
//  - Measured: C may have any value. f(v) = t(v)·min(1, min C/L over measured stages that contain
//    v's signature), so f(X) <= t(X)·C/L <= C.
//  - Not measured in a profile: a serial sum, or batches of groups, each serial or measured; X lies
//    in one batch, whose cost is at least f(X) by the above.
//
// 2. Work share h, such that C >= h(S): as 1, with all of S instead of X and W instead of L. Under
//    overlap C >= w·Σt + (1−w)·Σ t·u, and since u <= 1 this is a share of stages of one group too.
//
// 3. Window share. Every operator of S has a virtual time: it starts at σ(v) = s + the shares
//    before it in its group, and ends at τ(v) = e − the shares after it. Both use the stage's own
//    path shares f_S (t·min(1, C/L) if measured, else t); hence τ(v) − σ(v) >= f(v). An input of v
//    comes from another stage and arrives by s, or is from the same group and ends before v starts.
//    So lower bounds on σ and upper bounds on τ propagate along edges with path shares and, between
//    devices, transfers.
// Let J be operators of S with σ >= a and τ <= b, x = max(0, a − s), y = max(0, e − b), z = x + y.
// In each group with operators of J, at least x of virtual time is before J and at least y after
// it. [s, e] ∩ [a, b] has length C − z. Claim: C − z >= the window shares of J.
//  - Serial, or one group: C >= t(J) + z.
//  - Overlap: let k groups have operators of J and u' be the least utilization. Σt >= t(J) + z. If
//    k·u' >= 1, then Σ t·u >= Σ_J t·u + k·z·u' >= Σ_J t·u + z. Else L >= z + t(J)/k. With c = 1/K,
//    K the largest number of groups with K·u' < 1, both are at least z + Σ_J t·min(u, c); so the
//    window share is w·t + (1−w)·t·min(u, c). From u' = 1/2 on it is the work share.
//  - Measured, with h_S(v) = t(v)·min(1, C/W), which is at least h(v).
//    C <= L: the time before and after J is at least z·L/C in each of its k groups, so t(J) <=
//    min(W − k·z·L/C, k·(L − z·L/C)), and h_S(J) = t(J)·C/W <= C − z: by the first if k·L >= W,
//    else by the second. L < C < W: the same with z instead of z·L/C, and k·C compared with W.
//    C >= W: t(J) <= W − z <= C − z. So the window share is the work share; batches are stages of
//    their own, one after the other.
//
// 4. An operator comparable with all others only runs in stages of one group, which cost their sum:
//    all its shares are t. So are all shares on a device of one stream.
//
// tests/scheduler/bounds/bounds_parts_test.cpp checks 1 to 3 on random stages.

namespace hios::scheduler {
namespace {

struct Least {
  double path = 1;
  double work = 1;
};

/// The least factors of operators' times over the measured stages, by signature.
using MeasuredShares = std::map<std::string_view, Least, std::less<>>;

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
    if (!known || longest <= 0) continue;  // not of this graph, or no time that could shrink
    for (const auto& group : groups) {
      for (const std::string& signature : group) {
        Least& share = shares[signature];
        share.path = std::min(share.path, measurement.ms / longest);
        share.work = std::min(share.work, measurement.ms / all);
      }
    }
  }
  return shares;
}

/// Returns c of the window share: 1/K.
double utilization_in_windows(const Graph& graph, int streams) {
  double least = 1;
  for (const Operator& op : graph.operators()) least = std::min(least, op.utilization);
  const double most_groups = std::ceil(1 / least) - 1;
  return 1 / std::max(1.0, std::min(most_groups, static_cast<double>(streams)));
}

/// Returns, by OpId, true for operators that are comparable with all others and so share no stage.
std::vector<bool> shares_no_stage(const Graph& graph) {
  std::vector<bool> alone(graph.size(), false);
  const GraphPartition cut = partition_graph(graph, std::numeric_limits<std::size_t>::max());
  for (const auto& subgraph : cut.subgraphs) {
    if (subgraph.size() == 1) alone[subgraph.front().index()] = true;
  }
  return alone;
}

}  // namespace

Shares::Factors Shares::measured(const Graph& graph, DeviceId device) const {
  const MeasuredShares shares =
      measured_shares(*costs_->configuration(device), costs_->platform().device(device).streams);
  Factors factors;
  for (const Operator& op : graph.operators()) {
    const auto found = shares.find(op.signature);
    const Least share = found == shares.end() ? Least{} : found->second;
    factors.path.push_back(share.path);
    factors.work.push_back(share.work);
  }
  factors.window = factors.work;
  return factors;
}

Shares::Factors Shares::overlapping(const Graph& graph, DeviceId device) const {
  const StageCostRule& rule = graph.stage_cost();
  const double most = utilization_in_windows(graph, costs_->platform().device(device).streams);
  Factors factors;
  factors.path.assign(graph.size(), 1);
  for (const Operator& op : graph.operators()) {
    factors.work.push_back(rule.weight + (1 - rule.weight) * op.utilization);
    factors.window.push_back(rule.weight + (1 - rule.weight) * std::min(op.utilization, most));
  }
  return factors;
}

Shares::Shares(const Graph& graph, const CostModel& costs) : costs_(&costs) {
  const std::vector<bool> alone = shares_no_stage(graph);
  const bool overlap = graph.stage_cost().kind == StageCostRule::Kind::kOverlap;
  std::map<std::pair<const Configuration*, int>, std::size_t> kinds;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    const DeviceId device(d);
    const Configuration* configuration = costs.configuration(device);
    const int streams = costs.platform().device(device).streams;
    const auto [kind, is_new] = kinds.emplace(std::pair(configuration, streams), factors_.size());
    kind_.push_back(kind->second);
    if (!is_new) continue;
    Factors factors;
    if (streams > 1 && configuration) {
      factors = measured(graph, device);
    } else if (streams > 1 && overlap) {
      factors = overlapping(graph, device);
    } else {
      factors.path.assign(graph.size(), 1);
      factors.work = factors.window = factors.path;
    }
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (alone[i]) factors.path[i] = factors.work[i] = factors.window[i] = 1;
    }
    factors_.push_back(std::move(factors));
  }
}

}  // namespace hios::scheduler
