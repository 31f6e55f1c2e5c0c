// An operator reads its parameters in place as a cold inference does: by the same kernel, from a
// copy that nothing has touched since the last inference. Before each sweep as many bytes are
// written elsewhere as a cold start overwrites, which leaves caches as it finds them.
#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "engine/measure/launch.h"
#include "engine/measure/loads/loads.h"
#include "engine/measure/network_sweeps.h"
#include "hios/profile/settling.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

/// Returns the signatures with parameters that a team's configuration lacks.
std::vector<std::string> missing_in_place(const ProfilerContext& context,
                                          const Configuration& into) {
  std::set<std::string> missing;
  for (const Operator& op : context.coarse.graph.operators()) {
    if (op.parameter_bytes > 0 && !into.in_place.contains(op.signature))
      missing.insert(op.signature);
  }
  return mpi::broadcast(context.transport,
                        std::vector<std::string>(missing.begin(), missing.end()));
}

Bytes all_parameter_bytes(const Graph& graph) {
  Bytes sum = 0;
  for (const Operator& op : graph.operators()) sum += op.parameter_bytes;
  return sum;
}

Bytes parameter_bytes_of(const Graph& graph, const std::string& signature) {
  return std::ranges::find(graph.operators(), signature, &Operator::signature)->parameter_bytes;
}

}  // namespace

RankPlan plan_in_place(const CoarseGraph& coarse, Rank rank) {
  const auto order = coarse.graph.topological();
  Schedule sequential;
  sequential.devices.push_back(one_operator_stages({order.begin(), order.end()}));
  Weights& weights = sequential.weights.emplace();
  for (const OpId op : order) {
    if (coarse.graph.op(op).parameter_bytes > 0) weights.in_place.push_back({op, StoreId(0)});
  }
  RankPlan plan = plan_rank(coarse, sequential, Rank(0));
  plan.rank = rank;  // every rank runs device 0's plan
  return plan;
}

Measured measure_in_place(const ProfilerContext& context, std::span<Configuration* const> into) {
  const Stopwatch stopwatch;
  const Graph& graph = context.coarse.graph;
  std::vector<std::vector<std::string>> missing;
  Measured measured;
  for (const Configuration* const each : into) {
    missing.push_back(missing_in_place(context, *each));
    measured.missing += missing.back().size();
  }
  if (measured.missing == 0) return measured;
  std::vector<std::byte> overwritten(all_parameter_bytes(graph));
  const std::vector<RankPlan> plan{plan_in_place(context.coarse, context.transport.rank())};
  const NetworkSweeps sweeps =
      sweep_network(context, plan, "measuring operators in place, sweep",
                    [&](Executor&) { std::memset(overwritten.data(), 0xff, overwritten.size()); });
  measured.stopped = sweeps.samples.stopped;
  if (measured.stopped) return measured;
  const Samples of_team = of_my_team(context, sweeps);
  for (std::size_t team = 0; team < into.size(); ++team) {
    auto by_op = sweeps.times.merge(context.transport, of_team, context.teams[team]);
    by_op.resize(by_op.size() - kDeviceTimes);
    for (const auto& [signature, mean] : means_of(graph, missing[team], by_op)) {
      into[team]->in_place.insert_or_assign(
          signature,
          InPlaceMeasurement{mean.ms, parameter_bytes_of(graph, signature), mean.samples});
    }
    add_settling(*into[team], "operators in place", settling_of(sweeps.samples));
    context.describe(*into[team], stopwatch, team);
  }
  measured.done = measured.missing;
  return measured;
}

}  // namespace hios
