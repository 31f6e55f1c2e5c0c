#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/structures/position_set.h"

namespace hios::scheduler {

/// The same schedule as IncrementalTimeline for large graphs: a delay of all later operators of a
/// device costs little more than one of a few. All times are multiples of 2^-k ms, with k as large
/// as exact sums allow, so costs are rounded to them first. Where costs are such multiples, all
/// starts and latencies equal those of IncrementalTimeline to the last bit. Sources:
/// shifting_timeline.cpp, and shifting_trial.cpp for the trial that is in place.
class ShiftingTimeline {
 public:
  /// All arguments outlive the timeline. REQUIRES: `order` is a topological order of all operators;
  /// receiving costs no time (CostModel::charges_receivers). A block of more than twice the given
  /// number of operators is split.
  ShiftingTimeline(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order,
                   std::size_t block_operators = 256);

  double latency_ms() const { return ms(latency_); }

  /// Do the same as the functions of IncrementalTimeline; at_least() is exact.
  double at_least(const std::vector<OpId>& operators, DeviceId device) const;
  double try_adding(const std::vector<OpId>& operators, DeviceId device, double limit);
  void remember();
  void keep();
  Schedule schedule() const;

 private:
  using Ticks = std::int64_t;  ///< a time in units of 2^-k ms
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr Ticks kNever = std::numeric_limits<Ticks>::max() / 4;

  /// An outgoing edge of an operator.
  struct Arc {
    std::uint32_t position;  ///< the operator at its other end
    EdgeId edge;
    Ticks transfer;  ///< kByPair if it depends on the devices
  };
  static constexpr Ticks kByPair = -1;
  /// An operator, by position in the order.
  struct Placed {
    Ticks start = 0;  ///< minus the shift of its block
    Ticks time = 0;   ///< on its device
    /// The shift of its block up to which it surely delays no consumer on another device.
    Ticks slack = 0;
    std::uint32_t block = kNone;  ///< none: not placed
    std::uint32_t arcs = 0;       ///< begin of its outgoing edges in arcs_
  };
  /// Some operators of a device that follow each other, with a delay of all of them.
  struct Block {
    std::uint32_t device = 0;
    bool added = false;  ///< has operators on trial
    Ticks shift = 0;
    Ticks least_slack = kNever;  ///< at most the slack of any of its operators
    Ticks work = 0;              ///< sum of times
    std::vector<std::uint32_t> positions;
  };
  /// The data of an operator or a block before the trial changed them.
  struct Change {
    std::uint32_t index;
    bool of_block;
    Ticks start_or_shift, slack;
  };
  struct Trial {
    std::vector<std::uint32_t> positions;
    DeviceId device;
  };

  double ms(Ticks ticks) const;
  Ticks ticks(double ms) const;
  Ticks start(std::uint32_t position) const;
  Ticks finish(std::uint32_t position) const;
  Ticks transfer(const Arc& arc, std::uint32_t from, std::uint32_t to) const;
  Ticks start_after_inputs(std::uint32_t position, DeviceId device) const;
  std::size_t block_index(std::uint32_t position, DeviceId device) const;

  bool run(const Trial& trial, Ticks limit);
  void add(std::uint32_t position, DeviceId device);
  bool propagate(Ticks limit);
  bool delay_from(std::uint32_t position, Ticks earliest, Ticks limit);
  bool delay_operators(std::uint32_t block, std::size_t first, Ticks& earliest);
  void delay_block(std::uint32_t block, Ticks by);
  void check_consumers(std::uint32_t position);
  void lower_slack(std::uint32_t position, Ticks slack);
  void delay_later(std::uint32_t position, Ticks earliest);
  void record(std::uint32_t position);
  void record_block(std::uint32_t block);
  void undo();
  void commit();
  void split(std::size_t index, DeviceId device);

  const Graph& graph_;
  const CostModel& costs_;
  const std::vector<OpId>& order_;
  const std::size_t block_operators_;
  int bits_ = 0;                                // k
  std::vector<std::size_t> position_;           // in order_, by operator
  std::vector<Placed> placed_;                  // by position, and one for the end of arcs_
  std::vector<Arc> arcs_;                       // by producer's position
  std::vector<Block> blocks_;                   // of all devices
  std::vector<std::vector<std::uint32_t>> on_;  // blocks by device, in order; none is empty
  std::vector<Ticks> earliest_;                 // by position: start of those to be delayed
  PositionSet later_;                           // positions to be delayed
  std::size_t next_later_ = 0;                  // none of them is before it
  std::vector<Change> changes_;                 // of the trial in place
  Trial last_, best_;
  Ticks latency_ = 0;  // without the trial
  Ticks trial_latency_ = 0;
  bool trial_in_place_ = false;
  bool last_is_best_ = false;
};

}  // namespace hios::scheduler
