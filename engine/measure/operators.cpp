#include "engine/measure/operators.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/measure/launch.h"
#include "engine/measure/network_sweeps.h"
#include "hios/evaluate/cost_model.h"
#include "hios/profile/settling.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

/// Returns the signatures that a team's configuration lacks. With asynchronous devices, all are
/// missing where no launch time is known: known times include the readings of the clock, and new
/// ones would not.
std::vector<std::string> missing_signatures(const ProfilerContext& context,
                                            const Configuration& into, bool asynchronous) {
  const bool all = asynchronous && !into.launch;
  std::set<std::string> missing;
  const std::set<std::string> unfinished = unfinished_operators(into);
  for (const Operator& op : context.coarse.graph.operators()) {
    if (all || !into.operators.contains(op.signature) || unfinished.contains(op.signature))
      missing.insert(op.signature);
  }
  return mpi::broadcast(context.transport,
                        std::vector<std::string>(missing.begin(), missing.end()));
}

}  // namespace

bool lacks_operators(const Graph& graph, const Configuration& into) {
  const std::set<std::string> unfinished = unfinished_operators(into);
  return std::ranges::any_of(graph.operators(), [&](const Operator& op) {
    return !into.operators.contains(op.signature) || unfinished.contains(op.signature);
  });
}

std::vector<RankPlan> plans_of_shards(const CoarseGraph& coarse, const Model& model, Rank rank) {
  Schedule by_shard;
  std::map<LayerId, std::size_t> shards;  // of operators of the whole network, so far
  for (const OpId op : coarse.graph.topological()) {
    const std::optional<LayerId> origin = model.layer(coarse.layers(op).layers.back()).origin;
    const std::size_t shard = origin ? shards[*origin]++ : 0;
    if (by_shard.devices.size() <= shard) by_shard.devices.resize(shard + 1);
    by_shard.devices[shard].push_back({{{op}}});
  }
  if (by_shard.devices.size() == 1) return {plan_of_all(coarse, rank)};
  std::vector<RankPlan> plans;
  for (std::size_t device = 0; device < by_shard.devices.size(); ++device) {
    RankPlan& plan =
        plans.emplace_back(plan_rank(coarse, by_shard, Rank(device), {.keep_received = true}));
    std::erase_if(plan.steps,
                  [](const Step& step) { return !std::holds_alternative<Compute>(step); });
    plan.sends.clear();
    plan.receives.clear();
    plan.rank = rank;
  }
  return plans;
}

RankPlan plan_of_all(const CoarseGraph& coarse, Rank rank) {
  const auto order = coarse.graph.topological();
  Schedule sequential;
  sequential.devices.push_back(one_operator_stages({order.begin(), order.end()}));
  RankPlan plan = plan_rank(coarse, sequential, Rank(0));
  plan.rank = rank;  // every rank runs device 0's plan
  return plan;
}

Measured measure_operators(const ProfilerContext& context, std::span<Configuration* const> into) {
  const Stopwatch stopwatch;
  std::vector<std::vector<std::string>> missing;
  Measured measured;
  const auto asynchronous = mpi::gather(context.transport, context.backend.accelerator() ? 1 : 0);
  for (std::size_t team = 0; team < into.size(); ++team) {
    const Rank first = context.teams[team].front();
    missing.push_back(missing_signatures(context, *into[team], asynchronous[first.index()] == 1));
    measured.missing += missing.back().size();
  }
  if (measured.missing == 0) return {};
  const Rank rank = context.transport.rank();
  // All ranks have as many plans: they meet when one begins or ends.
  const bool whole = std::ranges::count(asynchronous, 1) > 0;
  const std::vector<RankPlan> plans = whole ? std::vector{plan_of_all(context.coarse, rank)}
                                            : plans_of_shards(context.coarse, context.model, rank);
  const NetworkSweeps sweeps = sweep_network(context, plans, "measuring operators, sweep");
  measured.stopped = sweeps.samples.stopped;
  if (sweeps.samples.ms.empty()) return measured;
  const Samples of_team = of_my_team(context, sweeps);
  for (std::size_t team = 0; team < into.size(); ++team) {
    auto by_op = sweeps.times.merge(context.transport, of_team, context.teams[team]);
    if (missing[team].empty()) continue;
    into[team]->launch = launch_of(by_op);
    by_op.resize(by_op.size() - kDeviceTimes);
    for (Measurement& each : by_op) each = without_marks(each, into[team]->launch);
    for (auto& [signature, mean] : means_of(context.coarse.graph, missing[team], by_op)) {
      into[team]->operators.insert_or_assign(signature, mean);
    }
    add_settling(*into[team], "operators", settling_of(sweeps.samples));
    mark_operators(*into[team], missing[team], !measured.stopped);
    context.describe(*into[team], stopwatch, team);
  }
  measured.done = measured.missing;
  return measured;
}

}  // namespace hios
