#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/list/receipts.h"
#include "scheduler/structures/position_set.h"
#include "scheduler/structures/prefix_sums.h"

namespace hios::scheduler {

/// The same schedule as ListTimeline without insertion, for a list that grows in its middle:
/// operators have fixed positions in an order, and added ones delay only those that depend on them.
/// All start times equal, to the last bit, those of placing all operators from scratch in that
/// order.
class IncrementalTimeline {
 public:
  /// All arguments outlive the timeline. REQUIRES: `order` is a topological order of all operators.
  IncrementalTimeline(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order);

  double latency_ms() const { return latency_ms_; }

  /// Returns a lower bound, up to rounding, of try_adding(): from each operator's start by its
  /// inputs on, the device must do its remaining work. O(log n) per operator. Returns 0 where
  /// receivers copy.
  double at_least(const std::vector<OpId>& operators, DeviceId device) const;
  /// Returns the latency if `operators` were added on `device`, or infinity as soon as it is known
  /// to be at least `limit`. Adds nothing.
  /// REQUIRES: they are in order, none is placed yet, and the device can run them.
  double try_adding(const std::vector<OpId>& operators, DeviceId device, double limit);
  /// Makes the last trial the one that keep() adds. REQUIRES: it did not return infinity.
  void remember();
  /// Adds the operators of the remembered trial.
  void keep();
  /// Returns a schedule with one operator per stage, in order.
  Schedule schedule() const;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// An outgoing edge of an operator. No FlatGraph: only outgoing edges are read, and their begin
  /// is in Placed, next to the other data of the same step.
  struct Arc {
    std::uint32_t position;  ///< the operator at its other end
    EdgeId edge;
    double transfer_ms;  ///< kByPair if it depends on the devices
  };
  static constexpr double kByPair = -1;
  /// An operator, by position in the order.
  struct Placed {
    double start_ms = 0;
    double time_ms = 0;            ///< on its device
    std::uint32_t device = kNone;  ///< none: not placed
    std::uint32_t next = kNone;    ///< next operator on the device
    std::uint32_t arcs = 0;        ///< begin of its outgoing edges in arcs_
  };
  struct Start {
    std::uint32_t position;
    double ms;
  };
  struct TriedAddition {
    std::vector<std::uint32_t> added;
    DeviceId device;
    double latency_ms = 0;
    std::vector<Start> starts;  ///< all new starts, once the trial is undone
  };

  void add_to(std::uint32_t position, DeviceId device);
  void chain(std::uint32_t position, DeviceId device);
  void visit_later_receivers(std::uint32_t position);
  std::uint32_t arc_to(std::uint32_t producer, std::uint32_t position) const;
  void set_receiver(std::uint32_t position, DeviceId device, bool receives);
  void unchain(std::uint32_t position, DeviceId device);
  double start_after_inputs(std::uint32_t position, DeviceId device) const;
  double start_with_copies(std::uint32_t position);
  Receipt received_before(std::uint32_t position, std::uint32_t producer) const;
  double work_after(std::size_t position) const;
  double transfer_ms(const Arc& arc, std::uint32_t from, std::uint32_t to) const;
  bool propagate(double limit);
  bool propagate_copies(double limit);
  double last_finish() const;
  void end_trial();
  void undo_trial();
  void raise(std::uint32_t position, double start_ms);

  const Graph& graph_;
  const CostModel& costs_;
  const std::vector<OpId>& order_;
  std::vector<std::size_t> position_;  // in order_, by operator
  std::vector<Placed> placed_;         // by position, and one more for the end of arcs_
  std::vector<Arc> arcs_;              // by producer's position
  std::vector<PrefixSums> work_;       // by device: operators' times by position; like on_
  std::vector<PositionSet> on_;        // by device; created when first used
  double latency_ms_ = 0;
  PositionSet raised_;  // positions whose start was raised, or may have changed: to be visited
  const bool copies_;   // receivers copy
  // The placed consumers of each output that is shared widely, by device, as indices of the
  // producer's arcs.
  std::vector<std::vector<PositionSet>> receivers_;
  std::vector<std::uint32_t> shared_;  // by position: index in receivers_, or kNone; with copies
  AwaitedInputs awaited_;
  TriedAddition last_, best_;
  bool trial_in_place_ = false;  // last_ is applied to placed_
  bool last_is_best_ = false;    // keep() adds last_, not best_
  std::vector<Start> old_;       // overwritten starts, in order; with copies those of added ones
};

}  // namespace hios::scheduler
