#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/structures/position_set.h"
#include "scheduler/structures/running_sums.h"

namespace hios::scheduler {

/// What ListTimeline without insertion gives, for a list that grows in its middle: operators keep
/// their places in a fixed order, and those that are added delay only what they must. All start
/// times are, to the last bit, those of placing all operators anew in that order.
class IncrementalTimeline {
 public:
  /// All outlive the timeline. REQUIRES: `order` is a topological order of all operators.
  IncrementalTimeline(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order);

  double latency_ms() const { return latency_ms_; }

  /// A lower bound, up to rounding, of what try_adding() would answer: from each of the operators
  /// on, the device has its work to do after what that one waits for. O(log n) an operator.
  double at_least(const std::vector<OpId>& operators, DeviceId device) const;
  /// The latency if `operators` were added on `device`; infinity once it is sure to be `limit` or
  /// more. Nothing is added.
  /// REQUIRES: they come in order, none is there yet, the device can run them.
  double try_adding(const std::vector<OpId>& operators, DeviceId device, double limit);
  /// Makes the last trial the one that keep() adds. REQUIRES: it was not cut off.
  void remember();
  /// Adds the operators of the remembered trial.
  void keep();
  /// One operator a stage, in order.
  Schedule schedule() const;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// An edge that leads from an operator. No FlatGraph: only these are read, and where they begin
  /// stands in Placed, beside what the same step reads.
  struct Arc {
    std::uint32_t position;  ///< the operator at its other end
    EdgeId edge;
    double transfer_ms;  ///< kByPair where it depends on the devices
  };
  static constexpr double kByPair = -1;
  /// By position in the order.
  struct Placed {
    double start_ms = 0;
    double time_ms = 0;            ///< on its device
    std::uint32_t device = kNone;  ///< none: not there
    std::uint32_t next = kNone;    ///< on the device
    std::uint32_t arcs = 0;        ///< where its outgoing ones begin in arcs_
  };
  struct Start {
    std::uint32_t position;
    double ms;
  };
  struct TriedAddition {
    std::vector<std::uint32_t> added;
    DeviceId device;
    double latency_ms = 0;
    std::vector<Start> starts;  ///< all that are new, once it is not in placed_ any more
  };

  void chain(std::uint32_t position, DeviceId device);
  void unchain(std::uint32_t position, DeviceId device);
  double start_after_inputs(std::uint32_t position, DeviceId device) const;
  double work_after(std::size_t position) const;
  double transfer_ms(const Arc& arc, std::uint32_t from, std::uint32_t to) const;
  bool propagate(double limit);
  void set_aside();
  void take_back();
  void raise(std::uint32_t position, double start_ms);

  const Graph& graph_;
  const CostModel& costs_;
  const std::vector<OpId>& order_;
  std::vector<std::size_t> position_;  // in order_, by operator
  std::vector<Placed> placed_;         // by position, and one more for the end of arcs_
  std::vector<Arc> arcs_;              // by producer's position
  std::vector<RunningSums> work_;      // by device, its operators' times by position; as on_
  std::vector<PositionSet> on_;        // by device; made when first used
  double latency_ms_ = 0;
  PositionSet late_;  // those whose start was raised and not yet passed on
  TriedAddition last_, best_;
  bool tried_ = false;         // last_ is in placed_
  bool last_is_best_ = false;  // and is the one that is remembered, best_ is not
  std::vector<Start> old_;     // what it overwrote, in order
};

}  // namespace hios::scheduler
