#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/measure/profiler_context.h"
#include "engine/run/executor.h"
#include "engine/run/plan/plan.h"

/// The times of operators in sweeps over their whole network.
namespace hios {

struct NetworkSweeps {
  SweepTimes times;             ///< by OpId, then kDeviceTimes others
  Samples samples;              ///< times of whole sweeps, the maximum over all ranks
  std::vector<double> of_rank;  ///< times of whole sweeps on this rank
};

/// Runs plans with one operator a stage one after the other, repeatedly, by the protocol; together
/// they run each operator of the network once. `before` (may be empty) is called before each sweep,
/// off its clock, with the first plan's executor. `what`: for the line of progress. REQUIRES: one
/// plan where the device is asynchronous. Collective.
NetworkSweeps sweep_network(const ProfilerContext& context, std::span<const RankPlan> plans,
                            const std::string& what,
                            const std::function<void(Executor&)>& before = {});

/// Returns the times of the sweeps in this rank's team: the maxima over its own ranks. Collective.
Samples of_my_team(const ProfilerContext& context, const NetworkSweeps& sweeps);

/// Returns the means over equal operators, by signature. `by_op`: by OpId.
std::map<std::string, Measurement> means_of(const Graph& graph,
                                            const std::vector<std::string>& signatures,
                                            const std::vector<Measurement>& by_op);

}  // namespace hios
