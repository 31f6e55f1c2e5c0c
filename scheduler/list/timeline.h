#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler {

/// A list schedule in the making: operators are placed one at a time, each on its device as early
/// as its placed inputs and the device allow ("schedule v_j at the earliest available start time on
/// its GPU": Kundu and Shu, HIOS, Alg. 1, line 12). Inputs that are not placed do not count.
///
/// By default an operator goes after all that is on its device; with `insertion` also into the
/// first gap that holds it. Operators must come in a topological order; schedule() then waits in no
/// cycle; without contention simulate() gives latency_ms(), or with insertion no more than that.
class ListTimeline {
 public:
  /// Both outlive the timeline.
  ListTimeline(const Graph& graph, const CostModel& costs, bool insertion = false);

  void clear();
  /// REQUIRES: `op` is not placed, the device can run it.
  double earliest_start_ms(OpId op, DeviceId device) const;
  void place(OpId op, DeviceId device) { place_at(op, device, earliest_start_ms(op, device)); }
  /// With a start that earliest_start_ms gave before, after the same operators.
  void place_at(OpId op, DeviceId device, double start_ms);

  bool placed(OpId op) const { return device_of_[op.index()].has_value(); }
  std::optional<DeviceId> device(OpId op) const { return device_of_[op.index()]; }
  double start_ms(OpId op) const { return start_ms_[op.index()]; }
  double finish_ms(OpId op) const { return finish_ms_[op.index()]; }
  double latency_ms() const { return latency_ms_; }

  /// A stage an operator, by start on each device.
  Schedule schedule() const;

 private:
  struct Slot {
    double start_ms;
    double finish_ms;
    OpId op;
  };

  const Graph* graph_;
  const CostModel* costs_;
  bool insertion_;
  std::vector<std::optional<DeviceId>> device_of_;  // by operator
  std::vector<double> start_ms_, finish_ms_;        // by operator, where placed
  std::vector<std::vector<Slot>> slots_;            // by device, in order of start
  double latency_ms_ = 0;
};

/// What Alg. 1, 2 and 3 return: a valid schedule, and whether time ran out before it was theirs.
struct TimedSchedule {
  Schedule schedule;
  bool timed_out = false;
};

/// Plain list scheduling of what an algorithm had no time to place: all operators in `order` (a
/// topological one), those with a device there, the others each where it ends first (the lowest
/// device among equals) out of those that it may go to. Where labels and memory leave no such
/// device, all go where pack_operators() finds room. REQUIRES: the devices that are given keep
/// labels and memory.
Schedule list_schedule(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order,
                       const std::vector<std::optional<DeviceId>>& device_of);

}  // namespace hios::scheduler
