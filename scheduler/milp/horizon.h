#pragma once

#include <cstdint>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler::milp {

/// Conditions that the fixed operators of a schedule impose on the others. In ms, operator ×
/// device; operators by position in the topological order of the others.
struct Surroundings {
  std::vector<double> head_ms;  ///< earliest start there
  std::vector<double> tail_ms;  ///< least time from its end there to the end of the schedule
};

/// Limits for schedules below some latency that run one operator after the other on every device:
/// each operator's time window on each device, its possible devices, and the orders in which two
/// operators can share one. Operators by position in the graph's topological order, times in ms.
/// The graph and costs must outlive it.
class Horizon {
 public:
  /// `latency_ms` is that of a known schedule, or larger. `around` may be null.
  Horizon(const Graph& graph, const CostModel& costs, double latency_ms,
          const Surroundings* around = nullptr);

  std::size_t operators() const { return ops_.size(); }
  std::size_t devices() const { return devices_; }
  OpId op(std::size_t v) const { return ops_[v]; }
  std::size_t position(OpId op) const { return position_[op.index()]; }
  double latency_ms() const { return latency_ms_; }

  /// Returns the operator's leader: the first operator with its `colocate` label, or itself without
  /// one.
  std::size_t leader(std::size_t v) const { return leader_[v]; }
  bool may_run(std::size_t v, std::size_t d) const { return may_run_[v * devices_ + d] != 0; }
  double time_ms(std::size_t v, std::size_t d) const;
  /// Return the earliest start there, and the least time from its end there to the end of the
  /// schedule.
  double head_ms(std::size_t v, std::size_t d) const { return head_[v * devices_ + d]; }
  double tail_ms(std::size_t v, std::size_t d) const { return tail_[v * devices_ + d]; }
  /// Return the minima over the devices where it may run.
  double head_ms(std::size_t v) const;
  double tail_ms(std::size_t v) const;
  double time_ms(std::size_t v) const;

  /// Returns true if a path leads from a to b.
  bool precedes(std::size_t a, std::size_t b) const { return reach_[a * operators() + b]; }
  bool related(std::size_t a, std::size_t b) const { return precedes(a, b) || precedes(b, a); }
  /// Returns true if b can run after a on that device, a != b.
  bool may_follow(std::size_t a, std::size_t b, std::size_t d) const;

  /// A pair of operators joined by edges, and those edges.
  struct Arc {
    std::size_t from = 0, to = 0;
    std::vector<EdgeId> edges;
  };
  const std::vector<Arc>& arcs() const { return arcs_; }
  /// Returns the cost of its most expensive edge.
  double transfer_ms(const Arc& arc, std::size_t from, std::size_t to) const;
  /// Returns the part of transfer_ms() during which the tensor travels. REQUIRES: two different
  /// devices.
  double link_ms(const Arc& arc, std::size_t from, std::size_t to) const {
    return transfer_ms(arc, from, to) - costs_->launch_ms(DeviceId(to));
  }

  /// Returns true if some operator has no device left: then no schedule is that short.
  bool infeasible() const;

 private:
  void find_leaders();
  void find_arcs();
  void find_allowed_devices();
  bool narrow();
  void compute_heads(const Surroundings* around);
  void compute_tails(const Surroundings* around);

  const Graph* graph_;
  const CostModel* costs_;
  double latency_ms_;
  std::size_t devices_;
  std::vector<OpId> ops_;
  std::vector<std::size_t> position_;  // by OpId
  std::vector<std::size_t> leader_;
  std::vector<char> may_run_;                       // operator × device
  std::vector<double> head_, tail_;                 // operator × device
  std::vector<bool> reach_;                         // from × to
  std::vector<Arc> arcs_;                           // by `to`, then `from`
  std::vector<std::vector<std::size_t>> in_, out_;  // arcs, by operator
};

}  // namespace hios::scheduler::milp
