#pragma once

#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// List scheduling that places each operator on the device where it finishes first, in gaps between
/// others if it fits there. HEFT and its variants have this in common (Topcuoglu, Hariri and Wu,
/// "Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous Computing", section
/// 4.1: the insertion-based policy). Honours times by device, `allowed`, `colocate` and memory.
/// Operators are placed in a topological order.
class EarliestFinish {
 public:
  /// Graph and costs outlive it. Without `copies`, receiving takes no time.
  EarliestFinish(const Graph& graph, const CostModel& costs, bool copies = true)
      : graph_(&graph),
        costs_(&costs),
        timeline_(graph, costs, /*insertion=*/true, copies),
        placement_(graph, costs) {}

  /// Places an operator on the device with the least cost_ms(device, finish_ms), the lowest among
  /// equals, and returns that device. Returns nothing if labels and memory leave it no device.
  template <class Cost>
  std::optional<DeviceId> place_by(OpId op, const Cost& cost_ms) {
    std::optional<DeviceId> best;
    double best_ms = 0, best_start_ms = 0;
    for (std::size_t d = 0; d < costs_->platform().size(); ++d) {
      const DeviceId device(d);
      if (!placement_.may_go(op, device)) continue;
      const double start = timeline_.earliest_start_ms(op, device);
      const double ms = cost_ms(device, start + costs_->operator_ms(op, device));
      if (best && ms >= best_ms) continue;
      best = device;
      best_ms = ms;
      best_start_ms = start;
    }
    if (!best) return best;
    placement_.place(op, *best);
    timeline_.place_at(op, *best, best_start_ms);
    return best;
  }
  /// Places it where its finish plus rest_ms(device) is least.
  template <class Rest>
  std::optional<DeviceId> place(OpId op, const Rest& rest_ms) {
    return place_by(op,
                    [&](DeviceId device, double finish_ms) { return finish_ms + rest_ms(device); });
  }
  std::optional<DeviceId> place(OpId op) {
    return place(op, [](DeviceId) { return 0.0; });
  }

  /// Places an operator on this device as early as possible; returns false if labels or memory
  /// forbid it.
  bool place_on(OpId op, DeviceId device) {
    if (!placement_.may_go(op, device)) return false;
    placement_.place(op, device);
    timeline_.place(op, device);
    return true;
  }

  double latency_ms() const { return timeline_.latency_ms(); }
  /// REQUIRES: the operator is placed.
  double finish_ms(OpId op) const { return timeline_.finish_ms(op); }
  const Placement& placement() const { return placement_; }
  /// Returns a schedule with one operator per stage. REQUIRES: all are placed.
  Schedule schedule() const { return timeline_.schedule(); }
  /// Returns devices by operator; nothing for operators that are not placed.
  std::vector<std::optional<DeviceId>> devices() const {
    std::vector<std::optional<DeviceId>> devices;
    for (std::size_t i = 0; i < graph_->size(); ++i) devices.push_back(timeline_.device(OpId(i)));
    return devices;
  }

 private:
  const Graph* graph_;
  const CostModel* costs_;
  ListTimeline timeline_;
  Placement placement_;
};

}  // namespace hios::scheduler
