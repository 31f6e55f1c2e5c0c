#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/cost_model.h"
#include "hios/graph/cuts/even_cuts.h"
#include "hios/graph/network.h"
#include "scheduler/problem.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"

/// Small networks whose operators may be cut, with costs that are made up, and their optima.
namespace hios::test {

/// Returns four convolutions, of which each reads the one before, or the first.
inline Model four_convolutions(Random& random) {
  ModelBuilder net("four", {1, 16, 12, 10});
  std::vector<TensorId> made;
  for (const char* name : {"a", "b", "c", "d"}) {
    const bool narrow = random.below(2) == 0;
    const Conv conv{
        16, narrow ? Extent{1, 1} : Extent{3, 3}, {1, 1}, narrow ? Padding{0, 0} : Padding{1, 1}};
    const TensorId from =
        made.empty() ? net.input() : (random.below(2) == 0 ? made.back() : made.front());
    made.push_back(net.conv(name, from, conv));
  }
  return std::move(net).build();
}

/// A network whose operators may be cut in halves, on two devices.
struct Cuttable {
  /// `receive`: the share of a transfer's time that its receiver needs.
  explicit Cuttable(std::uint64_t seed, double receive = 0)
      : random(seed, "cuttable"),
        model(four_convolutions(random)),
        whole(model),
        platform(with_receive(Platform::homogeneous(2, "cpu", 1, 1), receive)),
        fixed_ms(random.uniform(0, 0.3)),
        transfer_ms(random.uniform(0.02, 0.6)) {
    constexpr std::int64_t kTwoShards[] = {1, 1};
    const Cuts candidates = even_cuts(whole.model, whole.coarse, kTwoShards);
    problem = {&whole, nullptr, candidates,
               [this](const Cuts& cuts) {
                 FusionRules rules;
                 rules.cuts = cuts;
                 return Network(model, 4, rules);
               },
               [this](const Graph& graph) { return costs_of(graph); }};
    whole_costs = std::make_unique<CostModel>(costs_of(whole.coarse.graph));
    problem.costs = whole_costs.get();
  }
  Cuttable(const Cuttable&) = delete;

  /// An operator takes some time in any case, and the rest by its output's size.
  CostModel costs_of(const Graph& graph) {
    Configuration& measured = profile.configurations.empty() ? profile.configurations.emplace_back()
                                                             : profile.configurations.front();
    measured.backend = measured.kind = "cpu";
    measured.threads = 1;
    measured.ranks = 2;
    for (const Operator& op : graph.operators()) {
      const double ms = fixed_ms + static_cast<double>(op.memory_bytes) / 7680;
      measured.operators[op.signature] = {ms, ms, 1};
    }
    measured.transfers = {{0, 1, {{1, transfer_ms}, {1 << 20, 4 * transfer_ms}}},
                          {1, 0, {{1, transfer_ms}, {1 << 20, 4 * transfer_ms}}}};
    return CostModel::from_profile(graph, platform, profile);
  }

  Random random;
  Model model;
  Network whole;
  Platform platform;
  double fixed_ms, transfer_ms;
  Profile profile;
  std::unique_ptr<CostModel> whole_costs;
  scheduler::CuttableProblem problem;
};

/// Returns the optimum, or infinity where nothing is shorter than `below_ms`.
inline double optimum(const CostModel& costs, double below_ms) {
  return brute_force(costs.graph(), costs.platform(), plain_costs_of(costs), Pruning::kBounds,
                     below_ms)
      .latency_ms;
}

/// Returns the optimum over all choices of cuts, or infinity where nothing is shorter.
inline double optimum_of_any_cuts(Cuttable& cuttable, double below_ms) {
  double least = std::numeric_limits<double>::infinity();
  const Cuts& all = cuttable.problem.candidates;
  for (std::size_t chosen = 0; chosen < std::size_t{1} << all.size(); ++chosen) {
    Cuts cuts;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((chosen >> i & 1) != 0) cuts.push_back(all[i]);
    }
    const Network network = cuttable.problem.cut(cuts);
    const CostModel costs = cuttable.costs_of(network.coarse.graph);
    least = std::min(least, optimum(costs, std::min(least, below_ms)));
  }
  return least;
}

/// Returns a latency that a schedule of this latency is shorter than: brute force need look at
/// nothing longer to prove that it is possible.
inline double just_above(double latency_ms) { return latency_ms * (1 + kOracleRounding); }

}  // namespace hios::test
