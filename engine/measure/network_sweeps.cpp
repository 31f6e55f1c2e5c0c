// The executor itself measures operators: it runs the whole network on this rank alone, one
// operator a stage, so that kernels, caches, arena and pinning are those of a run. A loop over one
// operator would keep its weights in cache and promise times that no run reaches.
#include "engine/measure/network_sweeps.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "engine/measure/launch.h"
#include "hios/base/log.h"
#include "mpi/exchange.h"

namespace hios {

namespace {

void add_operator_times(const RankPlan& plan, const Executor& executor, SweepTimes& times) {
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StageTimes& clock = executor.clocks().stages[s];
    times.add(plan.stages[s].groups.front().front().index(), clock.end_ms - clock.start_ms);
  }
}

}  // namespace

NetworkSweeps sweep_network(const ProfilerContext& context, std::span<const RankPlan> plans,
                            const std::string& what, const std::function<void(Executor&)>& before) {
  const std::size_t operators = context.coarse.graph.size();
  std::vector<std::unique_ptr<Executor>> executors;
  for (const RankPlan& plan : plans) {
    executors.push_back(std::make_unique<Executor>(context, plan));
    executors.back()->record_stages(true);
  }

  Protocol protocol = context.protocol;
  if (before) protocol.before = [&] { before(*executors.front()); };
  const bool asynchronous = context.backend.accelerator() != nullptr;
  NetworkSweeps sweeps{SweepTimes(operators + kDeviceTimes), {}, {}};
  std::optional<log::Progress> progress;
  if (context.leader()) progress.emplace(what);
  const Stopwatch stopwatch;
  const auto sweep = [&] {
    const DeviceSweep on_device = asynchronous ? sweep_device(*executors.front()) : DeviceSweep{};
    double ms = asynchronous ? on_device.ms() : 0;
    for (const auto& executor : executors) ms += asynchronous ? 0 : executor->run_once();
    sweeps.of_rank.push_back(ms);
    sweeps.times.begin_sweep();
    add_device_times(on_device, operators, sweeps.times);
    for (std::size_t p = 0; p < plans.size(); ++p) {
      add_operator_times(plans[p], *executors[p], sweeps.times);
    }
    return ms;
  };
  sweeps.samples =
      measure(context.transport, protocol, context.disturbance, sweep, [&](const RunsDone& done) {
        if (progress) progress->show(progress_text(what, protocol, done, stopwatch.seconds()));
      });
  for (const auto& executor : executors) executor->close();
  const std::size_t first = sweeps.of_rank.size() - sweeps.samples.ms.size();
  sweeps.times.drop_first(first);
  sweeps.of_rank.erase(sweeps.of_rank.begin(),
                       sweeps.of_rank.begin() + static_cast<std::ptrdiff_t>(first));
  return sweeps;
}

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

std::map<std::string, Measurement> means_of(const Graph& graph,
                                            const std::vector<std::string>& signatures,
                                            const std::vector<Measurement>& by_op) {
  std::map<std::string, Measurement> means;
  for (const std::string& signature : signatures) {
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
    means.emplace(signature, mean);
  }
  return means;
}

}  // namespace hios
