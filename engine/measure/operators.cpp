// The executor itself measures operators: it runs the whole network on this rank alone, one
// operator a stage, so that kernels, caches, arena and pinning are those of a run. A loop over one
// operator would keep its weights in cache and promise times that no run reaches.
#include "engine/measure/operators.h"

#include <algorithm>
#include <optional>
#include <set>

#include "engine/measure/launch.h"
#include "engine/run/executor.h"
#include "hios/base/log.h"
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

struct NetworkSweeps {
  SweepTimes times;             ///< by OpId, then kDeviceTimes others
  Samples samples;              ///< times of whole sweeps, the maximum over all ranks
  std::vector<double> of_rank;  ///< times of whole sweeps on this rank
};

NetworkSweeps sweep_network(const ProfilerContext& context) {
  const auto order = context.coarse.graph.topological();
  const RankPlan plan = plan_of_all(context.coarse, context.transport.rank());
  Executor executor(context, plan);
  executor.record_stages(true);

  const Protocol& protocol = context.protocol;
  const bool asynchronous = context.backend.accelerator() != nullptr;
  NetworkSweeps sweeps{SweepTimes(order.size() + kDeviceTimes), {}, {}};
  std::optional<log::Progress> progress;
  const std::string what = "measuring operators, sweep";
  if (context.leader()) progress.emplace(what);
  const Stopwatch stopwatch;
  const auto sweep = [&] {
    const DeviceSweep on_device = asynchronous ? sweep_device(executor) : DeviceSweep{};
    const double ms = asynchronous ? on_device.ms() : executor.run_once();
    sweeps.of_rank.push_back(ms);
    sweeps.times.begin_sweep();
    add_device_times(on_device, order.size(), sweeps.times);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const StageTimes& clock = executor.clocks().stages[i];
      sweeps.times.add(order[i].index(), clock.end_ms - clock.start_ms);
    }
    return ms;
  };
  sweeps.samples =
      measure(context.transport, protocol, context.disturbance, sweep, [&](const RunsDone& done) {
        if (progress) progress->show(progress_text(what, protocol, done, stopwatch.seconds()));
      });
  executor.close();
  const std::size_t first = sweeps.of_rank.size() - sweeps.samples.ms.size();
  sweeps.times.drop_first(first);
  sweeps.of_rank.erase(sweeps.of_rank.begin(),
                       sweeps.of_rank.begin() + static_cast<std::ptrdiff_t>(first));
  return sweeps;
}

/// Returns the times of the sweeps in this rank's team: the maxima over its own ranks.
Samples of_my_team(const ProfilerContext& context, const NetworkSweeps& sweeps) {
  Samples team{std::vector<double>(sweeps.of_rank.size(), 0), sweeps.samples.disturbed};
  const auto of_ranks = mpi::gather(context.transport, sweeps.of_rank);
  for (const Rank rank : context.teams[context.mine]) {
    for (std::size_t i = 0; i < team.ms.size(); ++i) {
      team.ms[i] = std::max(team.ms[i], of_ranks[rank.index()][i]);
    }
  }
  return team;
}

void write_operators(const Graph& graph, const std::vector<std::string>& missing,
                     const std::vector<Measurement>& by_op, Configuration& into) {
  for (const std::string& signature : missing) {
    Measurement mean{0, 0, 0};
    double occurrences = 0;
    for (std::size_t i = 0; i < by_op.size(); ++i) {
      if (graph.op(OpId(i)).signature != signature) continue;
      mean.ms += by_op[i].ms;
      mean.min_ms = occurrences == 0 ? by_op[i].min_ms : std::min(mean.min_ms, by_op[i].min_ms);
      mean.samples += by_op[i].samples;
      ++occurrences;
    }
    mean.ms /= occurrences;
    into.operators[signature] = mean;
  }
}

}  // namespace

bool lacks_operators(const Graph& graph, const Configuration& into) {
  const std::set<std::string> unfinished = unfinished_operators(into);
  return std::ranges::any_of(graph.operators(), [&](const Operator& op) {
    return !into.operators.contains(op.signature) || unfinished.contains(op.signature);
  });
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
  const NetworkSweeps sweeps = sweep_network(context);
  measured.stopped = sweeps.samples.stopped;
  if (sweeps.samples.ms.empty()) return measured;
  const Samples of_team = of_my_team(context, sweeps);
  for (std::size_t team = 0; team < into.size(); ++team) {
    auto by_op = sweeps.times.merge(context.transport, of_team, context.teams[team]);
    if (missing[team].empty()) continue;
    into[team]->launch = launch_of(by_op);
    by_op.resize(by_op.size() - kDeviceTimes);
    for (Measurement& each : by_op) each = without_marks(each, into[team]->launch);
    write_operators(context.coarse.graph, missing[team], by_op, *into[team]);
    add_settling(*into[team], "operators", settling_of(sweeps.samples));
    mark_operators(*into[team], missing[team], !measured.stopped);
    context.describe(*into[team], stopwatch, team);
  }
  measured.done = measured.missing;
  return measured;
}

}  // namespace hios
