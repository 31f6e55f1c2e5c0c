#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/list/receipts.h"
#include "scheduler/structures/busy_times.h"

namespace hios::scheduler {

/// A list schedule under construction. Operators are placed one at a time, each on its device as
/// early as its placed inputs and the device allow ("schedule v_j at the earliest available start
/// time on its GPU": Kundu and Shu, HIOS, Alg. 1, line 12). Inputs that are not placed are ignored.
///
/// By default an operator is appended to its device; with `insertion` it may also fill the first
/// gap that holds it. Operators must come in a topological order; then schedule() has no cyclic
/// wait. A device that receives at its own cost copies a tensor before the first operator that
/// reads it (Receipts). Without contention and without ranges, simulate() returns latency_ms(), or
/// with insertion at most that.
class ListTimeline {
 public:
  /// Graph and costs outlive the timeline. Without `copies`, receiving takes no time.
  ListTimeline(const Graph& graph, const CostModel& costs, bool insertion = false,
               bool copies = true);

  void clear();
  /// REQUIRES: `op` is not placed, and the device can run it.
  double earliest_start_ms(OpId op, DeviceId device) const;
  void place(OpId op, DeviceId device) { put(op, device, earliest(op, device)); }
  /// REQUIRES: earliest_start_ms returned this start when the same operators were placed.
  void place_at(OpId op, DeviceId device, double start_ms);

  bool placed(OpId op) const { return device_of_[op.index()].has_value(); }
  std::optional<DeviceId> device(OpId op) const { return device_of_[op.index()]; }
  double start_ms(OpId op) const { return start_ms_[op.index()]; }
  double finish_ms(OpId op) const { return finish_ms_[op.index()]; }
  double latency_ms() const { return latency_ms_; }

  /// Returns a schedule with one operator per stage, sorted by start on each device.
  Schedule schedule() const;

 private:
  Receipts::Begin earliest(OpId op, DeviceId device) const;
  Receipts::Begin earliest_with_copies(OpId op, DeviceId device) const;
  void put(OpId op, DeviceId device, Receipts::Begin begin);
  void list_inputs(OpId op) const;

  const Graph* graph_;
  const CostModel* costs_;
  bool insertion_;
  std::vector<std::optional<DeviceId>> device_of_;  // by operator
  std::vector<double> start_ms_, finish_ms_;        // by operator, if placed
  std::vector<BusyTimes<OpId>> slots_;              // by device
  Receipts receipts_;
  mutable std::vector<Receipts::Input> inputs_;  // the placed inputs of the operator in question
  double latency_ms_ = 0;
};

/// The result of Alg. 1, 2 and 3: a valid schedule, and whether time ran out before the algorithm
/// was complete.
struct TimedSchedule {
  Schedule schedule;
  bool timed_out = false;
};

/// Returns a plain list schedule, for an algorithm that ran out of time. All operators are placed
/// in `order` (a topological one): those with a device in `device_of` on it, the others on the
/// allowed device where they finish first (the lowest among equals). If labels and memory leave an
/// operator no device, all operators go where pack_operators() places them. REQUIRES: the given
/// devices honour labels and memory.
Schedule list_schedule(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order,
                       const std::vector<std::optional<DeviceId>>& device_of);

}  // namespace hios::scheduler
