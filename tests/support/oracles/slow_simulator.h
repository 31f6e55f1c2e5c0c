#pragma once

#include <functional>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

/// A second opinion on schedules, written apart from hios/: prices, timeline and deadlock.
namespace hios::test {

/// What a stage costs, how long a tensor travels, and what a device takes to begin an inference or
/// to go on by a tensor that has come.
struct Prices {
  std::function<double(const Stage&, DeviceId)> stage_ms;
  std::function<double(const Edge&, DeviceId from, DeviceId to)> transfer_ms;
  std::function<double(DeviceId)> launch_ms = [](DeviceId) { return 0.0; };

  /// From a producer's end until its consumer can start.
  double until_ready_ms(const Edge& edge, DeviceId from, DeviceId to) const {
    return from == to ? 0 : transfer_ms(edge, from, to) + launch_ms(to);
  }
};

/// By the graph's own costs; every edge must have its transfer_ms. Infinity where a device cannot
/// run an operator.
Prices prices_of(const Graph& graph, const Platform& platform);
/// By the cost model, for profiles and links. Infinity where a device cannot run an operator.
Prices prices_of(const CostModel& costs);

/// The latency by raising starts and ends until nothing moves: O(V·E) rounds. Nothing, where ends
/// still rise after as many rounds as there are stages.
std::optional<double> slow_latency_ms(const Graph& graph, const Schedule& schedule,
                                      const Prices& prices);

/// The same where links carry one tensor at a time. The order of transfers is the schedule's list;
/// without one it is made one at a time: with those sent whose turn is known and the others kept
/// back for ever, of all that come to be ready the one that is first goes next. Nothing, where some
/// stage or transfer never gets its turn.
std::optional<double> slow_latency_ms(const Graph& graph, const Schedule& schedule,
                                      const Prices& prices, Contention contention);

/// Whether the engine would come to its end: each device runs the first stage that it has left as
/// soon as every input is there, from an ended stage or from earlier in the same group.
/// REQUIRES: every operator is in the schedule once.
bool runs_to_its_end(const Graph& graph, const Schedule& schedule);

}  // namespace hios::test
