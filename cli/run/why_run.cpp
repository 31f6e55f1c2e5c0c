#include "cli/run/why_run.h"

#include <array>
#include <string>
#include <vector>

#include "scheduler/compare/gains.h"

namespace hios::cli {
namespace {

constexpr std::array<std::size_t, 2> kRanksOfGains = {2, 4};

/// Returns true if a run of this latency may have taken these times: none is shorter than its
/// longest path. Times vary, so a path that is a little longer will do.
bool may_be_of_run(const Graph& graph, const std::vector<double>& least_ms, double latency_ms) {
  return kNearLatency * longest_path(graph, least_ms).ms <= latency_ms;
}

/// Returns the recorded times of all operators; empty where a stage has several.
std::vector<double> recorded_operators(const Graph& graph, const Schedule& schedule,
                                       const Timeline& measured) {
  std::vector<double> times(graph.size(), 0);
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
      const Stage& stage = schedule.devices[d][s];
      if (stage.groups.size() != 1 || stage.groups.front().size() != 1) return {};
      const StageTimes& clocks = measured.stages[d][s];
      times[stage.groups.front().front().index()] = clocks.end_ms - clocks.start_ms;
    }
  }
  return times;
}

/// Returns the gains over one rank by the recorded times; nothing where ranks differ or may run
/// several operators at a time.
std::optional<Gains> recorded_gains(const Why& why, const Graph& graph, const Platform& platform) {
  if (!why.limits || !platform.alike() || platform.device(DeviceId(0)).streams != 1) return {};
  Gains gains{.like = DeviceId(0), .one_ms = why.limits->work_ms, .gains = {}, .quick = true};
  for (const std::size_t ranks : kRanksOfGains) {
    gains.gains.push_back(quick_gain(graph, why.operator_ms, why.operator_ms, ranks));
  }
  return gains;
}

}  // namespace

std::optional<Why> why_of_run(const job::RunInputs& inputs, const job::RunResults& results,
                              const CostModel* costs) {
  if (!results.measured || !results.waits) return {};
  const Graph& graph = inputs.network.coarse.graph;
  const ScheduleFile& file = inputs.schedule;
  const Platform platform(file.devices);
  Why why;
  why.algorithm = file.algorithm;
  why.measured = true;
  for (std::size_t r = 0; r < file.devices.size(); ++r) {
    why.devices.push_back("rank " + std::to_string(r));
  }
  why.latency_ms = results.waits->latency_ms;
  why.times = results.waits->ranks;
  if (costs) why.operator_ms = least_operator_ms(*costs);
  const bool by_costs =
      costs && may_be_of_run(graph, why.operator_ms, results.measured->latency_ms);
  if (!by_costs) why.operator_ms = recorded_operators(graph, file.schedule, *results.measured);
  if (!why.operator_ms.empty()) {
    why.limits = limits_of({&graph, &file.schedule, &*results.measured, why.times, nullptr},
                           why.operator_ms);
  }
  if (file.has_prediction && file.objective == Objective::kLatency) {
    why.bound_ms = file.predicted.lower_bound_ms;
    why.bound = file.predicted.bound;
    why.proven = why.bound_ms > 0 && file.predicted.latency_ms <= (1 + kNearBound) * why.bound_ms;
  }
  why.gains =
      by_costs ? scheduler::gains_of(*costs, kRanksOfGains) : recorded_gains(why, graph, platform);
  if (inputs.profile && by_costs) why.threads = more_threads(graph, platform, *inputs.profile);
  return why;
}

}  // namespace hios::cli
