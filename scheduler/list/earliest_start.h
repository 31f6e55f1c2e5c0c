#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Earliest time first: of all operators whose inputs are placed and all devices, the pair with the
/// least start is next, appended to the device (Hwang, Chow, Anger and Lee, "Scheduling Precedence
/// Graphs in Systems with Interprocessor Communication Times"). Ties are broken in this order: an
/// operator that its device is held for; the highest priority; the earliest finish; the lowest
/// device; for operators that wait with a device, the first to arrive. Honours times by device,
/// `allowed`, labels and memory.
class EarliestStart {
 public:
  struct Choice {
    OpId op;
    DeviceId device;
    double start_ms = 0;
  };
  /// Returns true if an operator may go to a device; checked in addition to Placement.
  using Filter = std::function<bool(OpId, DeviceId)>;

  /// `order` lists operators by descending priority. Graph and costs outlive it; `may` may be
  /// empty.
  EarliestStart(const Graph& graph, const CostModel& costs, std::vector<OpId> order,
                Filter may = {});

  /// Returns the next pair. Returns nothing if all are placed (is_done()), or if labels, memory and
  /// the filter leave no ready operator a device.
  std::optional<Choice> next();
  /// REQUIRES: `choice` is the last result of next().
  void place(const Choice& choice);

  /// Holds the device for an operator: before `until_ms`, other operators start on it only if their
  /// inputs have arrived when it is free. Ends when the next operator is placed on it.
  void hold(DeviceId device, OpId for_op, double until_ms);

  bool is_placed(OpId op) const { return timeline_.placed(op); }
  double finish_ms(OpId op) const { return timeline_.finish_ms(op); }
  bool is_done() const { return placed_ == graph_->size(); }
  /// Returns a schedule with one operator per stage. REQUIRES: is_done().
  Schedule schedule() const { return timeline_.schedule(); }
  /// Returns devices by operator; nothing for operators that are not placed.
  std::vector<std::optional<DeviceId>> devices() const;

 private:
  using Position = std::uint32_t;  // index in the priority order
  /// An operator in a device's queue. There are many, so they are small.
  struct Arriving {
    double ms;
    Position position;
    bool operator>(const Arriving& other) const {
      return ms > other.ms || (ms == other.ms && position > other.position);
    }
  };
  template <class Entry>
  using Least = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
  struct DeviceQueues {
    double free_ms = 0;
    Least<Position> arrived;   // inputs are there when the device is free
    Least<Arriving> arriving;  // inputs arrive later
    std::optional<OpId> held_for;
    double held_until_ms = 0;
  };
  struct Best {
    Choice choice;
    bool held = false;
    Position position = 0;
    double end_ms = 0;
  };

  void make_ready(OpId op);
  bool may_still_go(OpId op, DeviceId device) const;
  void drop_stale(DeviceQueues& queues, DeviceId device) const;
  double arrival_ms(OpId op, DeviceId device) const;
  void consider(OpId op, DeviceId device, double start_ms);

  const Graph* graph_;
  const CostModel* costs_;
  Filter may_;
  std::vector<OpId> order_;
  std::vector<std::size_t> position_;  // by operator
  ListTimeline timeline_;
  Placement placement_;
  std::vector<std::size_t> waits_;    // by operator: number of inputs not placed
  std::vector<DeviceQueues> queues_;  // by device
  std::optional<Best> best_;          // the best pair that next() has considered
  std::size_t placed_ = 0;
};

}  // namespace hios::scheduler
