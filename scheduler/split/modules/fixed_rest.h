#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler::split {

/// A schedule of one operator a stage as a graph: an operator depends on its producers and on the
/// one before it on its device. Links do not contend. The costs must outlive it.
class FixedRest {
 public:
  /// The order of operators is that of their starts if `by_start`; else the graph's, as far as
  /// devices' orders permit.
  FixedRest(const CostModel& costs, const Schedule& schedule, bool by_start);

  double latency_ms() const { return latency_ms_; }
  /// Returns all operators, producers first and in each device's order.
  const std::vector<OpId>& order() const { return order_; }
  std::size_t device(OpId op) const { return device_[op.index()]; }
  double start_ms(OpId op) const { return start_[op.index()]; }

  /// Returns the latency when the operators of order()[begin, end) are left out and the rest stays:
  /// a lower bound of any change to them.
  double without_ms(std::size_t begin, std::size_t end) const;
  /// Returns the earliest start of an operator of order()[begin, end) on a device after the
  /// operators before `begin`.
  double head_ms(OpId op, std::size_t device, std::size_t begin) const;
  /// Returns the time from its end there to the last end, by the operators from `end` on.
  double tail_ms(OpId op, std::size_t device, std::size_t end) const;
  /// Returns the schedule with the neighbourhood's operators on other devices and in other orders.
  Schedule replaced(std::size_t begin, std::size_t end, const Schedule& neighbourhood) const;
  /// Returns positions in order(), by OpId.
  const std::vector<std::size_t>& positions() const { return position_; }

 private:
  double time_ms(OpId op) const;
  std::vector<double> launches_ms() const;
  double arrival_ms(OpId op, std::size_t device, std::size_t begin) const;
  void find_order(bool by_start);
  void find_times();

  const CostModel& costs_;
  std::size_t devices_;
  std::vector<std::vector<OpId>> by_device_;
  std::vector<OpId> order_;
  std::vector<std::size_t> position_;  ///< in order_, by OpId
  std::vector<std::size_t> device_;    ///< by OpId
  std::vector<double> start_, tail_;
  double latency_ms_ = 0;
};

}  // namespace hios::scheduler::split
