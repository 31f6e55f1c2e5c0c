#pragma once

#include <cstdint>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler::milp {

/// What is fixed around operators that are only a part of a schedule, in ms, operator × device, the
/// operators by their place in the part's topological order.
struct Surroundings {
  std::vector<double> head_ms;  ///< none begins there earlier
  std::vector<double> tail_ms;  ///< passes at least from its end there to the last end
};

/// What a schedule that takes at most some latency, one operator after the other on every device,
/// can still be: from when to when an operator may run on a device, on which devices at all, and in
/// what order two can share one. Operators by their place in the graph's topological order, times
/// in ms. The graph and costs must outlive it.
class Horizon {
 public:
  /// `latency_ms`: of a schedule that is known, or above. `around`: null where there is nothing.
  Horizon(const Graph& graph, const CostModel& costs, double latency_ms,
          const Surroundings* around = nullptr);

  std::size_t operators() const { return ops_.size(); }
  std::size_t devices() const { return devices_; }
  OpId op(std::size_t v) const { return ops_[v]; }
  std::size_t place(OpId op) const { return place_[op.index()]; }
  double latency_ms() const { return latency_ms_; }

  /// Operators of equal `colocate` label have one home, all others their own: the first of them.
  std::size_t home(std::size_t v) const { return home_[v]; }
  bool may_run(std::size_t v, std::size_t d) const { return may_run_[v * devices_ + d] != 0; }
  double time_ms(std::size_t v, std::size_t d) const;
  /// The earliest begin there, and what passes at least from its end there to the last end.
  double head_ms(std::size_t v, std::size_t d) const { return head_[v * devices_ + d]; }
  double tail_ms(std::size_t v, std::size_t d) const { return tail_[v * devices_ + d]; }
  /// The least over the devices where it may run.
  double head_ms(std::size_t v) const;
  double tail_ms(std::size_t v) const;
  double time_ms(std::size_t v) const;

  /// Whether a path leads from one to the other.
  bool precedes(std::size_t a, std::size_t b) const { return reach_[a * operators() + b]; }
  bool related(std::size_t a, std::size_t b) const { return precedes(a, b) || precedes(b, a); }
  /// Whether a and then b can run on that device, a != b.
  bool may_follow(std::size_t a, std::size_t b, std::size_t d) const;

  /// Distinct pairs of places with an edge between them, and the edges that join them.
  struct Arc {
    std::size_t from = 0, to = 0;
    std::vector<EdgeId> edges;
  };
  const std::vector<Arc>& arcs() const { return arcs_; }
  /// Of the most expensive of its edges.
  double transfer_ms(const Arc& arc, std::size_t from, std::size_t to) const;
  /// Of that, how long the tensor travels. REQUIRES: two devices.
  double link_ms(const Arc& arc, std::size_t from, std::size_t to) const {
    return transfer_ms(arc, from, to) - costs_->launch_ms(DeviceId(to));
  }

  /// Whether any operator has no device left: then no schedule is that short.
  bool impossible() const;

 private:
  void find_homes();
  void find_arcs();
  void find_places();
  bool narrow();
  void compute_heads(const Surroundings* around);
  void compute_tails(const Surroundings* around);

  const Graph* graph_;
  const CostModel* costs_;
  double latency_ms_;
  std::size_t devices_;
  std::vector<OpId> ops_;
  std::vector<std::size_t> place_;  // by OpId
  std::vector<std::size_t> home_;
  std::vector<char> may_run_;                       // operator × device
  std::vector<double> head_, tail_;                 // operator × device
  std::vector<bool> reach_;                         // from × to
  std::vector<Arc> arcs_;                           // by `to`, then `from`
  std::vector<std::vector<std::size_t>> in_, out_;  // arcs, by operator
};

}  // namespace hios::scheduler::milp
