#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler {

/// Shares: lower bounds on the time that an operator takes, whatever its stage (proofs in
/// shares.cpp). Let [s, e] be the time of a stage S on device d; e − s is its cost.
class Shares {
 public:
  Shares(const Graph& graph, const CostModel& costs);

  /// Returns the share whose sum over any subset of one group is at most e − s.
  double path_ms(OpId op, DeviceId device) const {
    return costs_->operator_ms(op, device) * factors_[kind_[device.index()]].path[op.index()];
  }
  /// Returns the share whose sum over S is at most e − s.
  double work_ms(OpId op, DeviceId device) const {
    return costs_->operator_ms(op, device) * factors_[kind_[device.index()]].work[op.index()];
  }
  /// Returns the share inside a window [a, b], at most work_ms: the length of [s, e] in the window
  /// is at least the sum over those operators of S that cannot start before a nor end after b.
  double window_ms(OpId op, DeviceId device) const {
    return costs_->operator_ms(op, device) * factors_[kind_[device.index()]].window[op.index()];
  }

 private:
  struct Factors {  // factors of the operator's time, by OpId
    std::vector<double> path, work, window;
  };
  Factors measured(const Graph& graph, DeviceId device) const;
  Factors overlapping(const Graph& graph, DeviceId device) const;

  const CostModel* costs_;
  std::vector<std::size_t> kind_;  // by device: devices with equal stage costs share their factors
  std::vector<Factors> factors_;
};

}  // namespace hios::scheduler
