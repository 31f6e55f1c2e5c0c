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
/// least start comes next, behind what is on the device (Hwang, Chow, Anger and Lee, "Scheduling
/// Precedence Graphs in Systems with Interprocessor Communication Times"). Of pairs that start at
/// the same time: an operator that its device waits for; the operator that comes first by priority;
/// where it ends first; the lowest device; of those that wait with a device, the first to arrive.
/// Keeps times by device, `allowed`, labels and memory.
class EarliestStart {
 public:
  struct Choice {
    OpId op;
    DeviceId device;
    double start_ms = 0;
  };
  /// Whether an operator may go to a device, beside what Placement says.
  using Filter = std::function<bool(OpId, DeviceId)>;

  /// `order` gives priorities, the first the highest. Graph and costs outlive it; `may` may be
  /// empty.
  EarliestStart(const Graph& graph, const CostModel& costs, std::vector<OpId> order,
                Filter may = {});

  /// Nothing where all are placed, or where labels, memory and filter leave none of those that are
  /// ready a device: is_done() tells.
  std::optional<Choice> next();
  /// REQUIRES: it is what next() said last.
  void place(const Choice& choice);

  /// The device waits for this operator until then: before that, only operators whose inputs have
  /// arrived when the device is free may go to it. Until the next operator is placed on it.
  void hold(DeviceId device, OpId for_op, double until_ms);

  bool is_placed(OpId op) const { return timeline_.placed(op); }
  double finish_ms(OpId op) const { return timeline_.finish_ms(op); }
  bool is_done() const { return placed_ == graph_->size(); }
  /// One operator a stage. REQUIRES: is_done().
  Schedule schedule() const { return timeline_.schedule(); }
  /// By operator; nothing where it is not placed.
  std::vector<std::optional<DeviceId>> devices() const;

 private:
  using Position = std::uint32_t;  // by priority
  /// All of a device's: many, so they are small.
  struct Arriving {
    double ms;
    Position position;
    bool operator>(const Arriving& other) const {
      return ms > other.ms || (ms == other.ms && position > other.position);
    }
  };
  template <class Entry>
  using Least = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
  struct Lane {
    double free_ms = 0;
    Least<Position> arrived;   // with all inputs there when the device is free
    Least<Arriving> arriving;  // later
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
  void drop_gone(Lane& lane, DeviceId device) const;
  double arrival_ms(OpId op, DeviceId device) const;
  void consider(OpId op, DeviceId device, double start_ms);

  const Graph* graph_;
  const CostModel* costs_;
  Filter may_;
  std::vector<OpId> order_;
  std::vector<std::size_t> position_;  // in it, by operator
  ListTimeline timeline_;
  Placement placement_;
  std::vector<std::size_t> waits_;  // for so many inputs, by operator
  std::vector<Lane> lanes_;         // by device
  std::optional<Best> best_;        // of those that next() has looked at
  std::size_t placed_ = 0;
};

}  // namespace hios::scheduler
