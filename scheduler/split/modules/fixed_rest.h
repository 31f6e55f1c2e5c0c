#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler::split {

/// A schedule of one operator a stage as a graph: an operator waits for those whose tensors it
/// reads and for the one before it on its device; links do not contend. The costs must outlive it.
class FixedRest {
 public:
  /// `by_start`: operators in the order of their starts; else as the graph lists them, as far as
  /// devices' orders let.
  FixedRest(const CostModel& costs, const Schedule& schedule, bool by_start);

  double latency_ms() const { return latency_ms_; }
  /// Every operator, none before one that it waits for.
  const std::vector<OpId>& order() const { return order_; }
  std::size_t device(OpId op) const { return device_[op.index()]; }
  double start_ms(OpId op) const { return start_[op.index()]; }

  /// Where nothing but order()[begin, end) can be changed, and takes no time at all: how long the
  /// rest takes. What the part can save is above it.
  double without_ms(std::size_t begin, std::size_t end) const;
  /// For the operators of order()[begin, end): the earliest start on a device by what is before
  /// them.
  double head_ms(OpId op, std::size_t device, std::size_t begin) const;
  /// And what passes from its end there to the last end by what is behind them.
  double tail_ms(OpId op, std::size_t device, std::size_t end) const;
  /// The schedule with the part's operators in other places and orders.
  Schedule with(std::size_t begin, std::size_t end, const Schedule& part) const;
  const std::vector<std::size_t>& places() const { return place_; }

 private:
  double time_ms(OpId op) const;
  std::vector<double> launches_ms() const;
  double arrival_ms(OpId op, std::size_t device, std::size_t begin) const;
  void find_order(bool by_start);
  void find_times();

  const CostModel& costs_;
  std::size_t devices_;
  std::vector<std::vector<OpId>> work_;  ///< by device
  std::vector<OpId> order_;
  std::vector<std::size_t> place_;   ///< in order_, by OpId
  std::vector<std::size_t> device_;  ///< by OpId
  std::vector<double> start_, tail_;
  double latency_ms_ = 0;
};

}  // namespace hios::scheduler::split
