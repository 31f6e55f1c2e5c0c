#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/algorithms/hios/stage_list.h"
#include "scheduler/deadline.h"
#include "scheduler/list/placement.h"
#include "scheduler/structures/flat_graph.h"

namespace hios::scheduler {

/// A schedule whose stages are placed from its two ends in turns: from the last one to the first,
/// each as late as possible, then from the first one to the last, each as early as possible, and so
/// on. Stages stay whole; devices and orders change.
class StagePasses {
 public:
  /// Graph and costs must outlive it. Begins with the list's order and devices, each stage as early
  /// as possible.
  StagePasses(const Graph& graph, const CostModel& costs, StageList list);

  /// Places all stages in the direction opposite to the last pass. Returns false once the deadline
  /// expires; then nothing has changed.
  bool turn(const Deadline& deadline);
  /// Returns the latency of the present times. Where messages matter, it is an estimate.
  double length_ms() const { return times_.length_ms; }
  /// Returns the stages in the order of their present times.
  StageList list() const;

 private:
  using Index = std::uint32_t;  ///< of a stage
  static constexpr Index kAlone = std::numeric_limits<Index>::max();

  struct Arc {
    Index other;  ///< the stage at the edge's other end
    EdgeId edge;
  };
  /// How a pass chooses a device.
  enum class Rule {
    kPresent,        ///< the present one
    kEarliest,       ///< the least finish
    kWithLookAhead,  ///< the least finish plus the rest to the other end of the schedule
  };
  /// Times by stage, from the end of the schedule on if `backwards`.
  struct Times {
    bool backwards = false;
    std::vector<DeviceId> device;
    std::vector<double> start_ms, finish_ms;
    std::vector<Index> order;  ///< in which they were placed: topological in this direction
    double length_ms = 0;
  };
  class Placing;

  void add_costs(const Stage& stage);
  double cost_ms(Index stage, DeviceId device) const;
  double transfer_ms(const Arc& arc, bool backwards, DeviceId other, DeviceId own) const;
  /// Returns the edges to the stage's inputs, in either direction of time.
  std::span<const Arc> inputs(Index stage, bool backwards) const {
    return backwards ? arcs_.outputs(stage) : arcs_.inputs(stage);
  }
  std::vector<Index> next_order() const;
  bool place(Rule rule, const std::vector<Index>& order, Times& next,
             const Deadline& deadline) const;

  const Graph& graph_;
  const CostModel& costs_;
  std::size_t devices_;
  std::vector<Stage> stages_;
  FlatGraph<Arc> arcs_;           // between stages
  std::vector<double> costs_ms_;  // row × device, for stages of several operators
  std::vector<OpId> first_;       // by stage: its first operator
  std::vector<Index> row_;        // by stage; kAlone: a single operator
  std::vector<Bytes> bytes_;      // by stage; empty without memory limits
  std::vector<bool> stays_;       // by stage: it shares a label with another one
  Placement placement_;           // with nothing placed
  Times times_;
};

}  // namespace hios::scheduler
