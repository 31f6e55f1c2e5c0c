#pragma once

#include <functional>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

/// An independent implementation for schedules, written apart from hios/: costs, timeline and
/// deadlock.
namespace hios::test {

/// Costs of a stage and of sending a tensor, and the time that a device takes to start an
/// inference, or to continue with a tensor that has arrived.
struct PlainCosts {
  std::function<double(const Stage&, DeviceId)> stage_ms;
  std::function<double(const Edge&, DeviceId from, DeviceId to)> transfer_ms;
  std::function<double(DeviceId)> launch_ms = [](DeviceId) { return 0.0; };
  /// The time of a message of so many bytes; empty: every edge costs its transfer_ms.
  std::function<double(Bytes, DeviceId from, DeviceId to)> message_ms = {};
  /// The share of a message's time that its receiver needs for the copy; empty: none does.
  std::function<double(DeviceId from, DeviceId to)> receive_share = {};

  /// Returns the time from a producer's end until its consumer can start, by the edge alone.
  double until_ready_ms(const Edge& edge, DeviceId from, DeviceId to) const {
    return from == to ? 0 : transfer_ms(edge, from, to) + launch_ms(to);
  }
};

/// Returns the graph's own costs; every edge must have its transfer_ms. Infinite if a device cannot
/// run an operator.
PlainCosts plain_costs_of(const Graph& graph, const Platform& platform);
/// Returns the cost model's costs, for profiles and links. Infinite if a device cannot run an
/// operator.
PlainCosts plain_costs_of(const CostModel& costs);

/// Returns the latency by raising starts and ends until nothing changes: O(V·E) rounds. Returns
/// nothing if ends still rise after as many rounds as there are stages.
std::optional<double> slow_latency_ms(const Graph& graph, const Schedule& schedule,
                                      const PlainCosts& costs);

/// Returns the latency if links carry one tensor at a time. The order of transfers is the
/// schedule's list. Without one it is built one transfer at a time: with the chosen ones sent and
/// the others held back, the transfer that is ready first is next. Returns nothing if some stage or
/// transfer never starts.
std::optional<double> slow_latency_ms(const Graph& graph, const Schedule& schedule,
                                      const PlainCosts& costs, Contention contention);

/// Returns true if the engine would finish: each device runs its next stage as soon as every input
/// is there, from an ended stage or from earlier in the same group.
/// REQUIRES: every operator is in the schedule once.
bool runs_to_its_end(const Graph& graph, const Schedule& schedule);

}  // namespace hios::test
