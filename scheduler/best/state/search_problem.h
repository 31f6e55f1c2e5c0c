#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/structures/flat_graph.h"

namespace hios::scheduler::best {

/// The problem as flat arrays for the search's inner loops: edges from both ends, and operators
/// that share a device. Immutable; all islands of a search share one. Keeps a copy of the costs
/// that reports no unmeasured stages, since islands ask from several threads. The graph and
/// platform of `costs` must outlive it.
class SearchProblem {
 public:
  explicit SearchProblem(const CostModel& costs);

  /// One end of an edge: the operator at the other end, and the edge.
  struct Link {
    OpId op;
    EdgeId edge;
  };

  const CostModel& costs() const { return costs_; }
  const Graph& graph() const { return costs_.graph(); }
  const Platform& platform() const { return costs_.platform(); }
  std::size_t operators() const { return rank_.size(); }
  std::size_t devices() const { return platform().size(); }
  /// Returns the devices that can run some operator; the search uses no others.
  std::span<const DeviceId> usable() const { return usable_; }
  /// Returns true if a move also delays tensors of others (CostModel::messages_matter).
  bool messages_matter() const { return costs_.messages_matter(); }
  /// Returns true if links or ports carry one tensor at a time, so that their order matters.
  bool links_contend() const { return platform().contention() != hios::Contention::kNone; }
  bool usable(DeviceId device) const { return is_usable_[device.index()]; }
  /// Returns a usable device. Where memory does not bind, those of less than a quarter of the
  /// fastest one's speed are drawn less often, in proportion to it.
  DeviceId any_device(Random& random) const;

  std::span<const Link> inputs(OpId op) const { return edges_.inputs(op.index()); }
  std::span<const Link> outputs(OpId op) const { return edges_.outputs(op.index()); }
  /// Returns the operator's position in the graph's topological order.
  std::uint32_t rank(OpId op) const { return rank_[op.index()]; }
  /// Returns all operators with the same `colocate` label, including the operator itself; none for
  /// an operator without a label.
  std::span<const OpId> companions(OpId op) const;
  bool any_companions() const { return !labels_.empty(); }
  double utilization(OpId op) const { return utilization_[op.index()]; }
  /// Returns the bytes of outputs and parameters, which the operator's device must hold; saturated.
  Bytes held_bytes(OpId op) const { return held_bytes_[op.index()]; }
  /// Returns the most bytes that a device may hold; the largest number if it has no limit.
  Bytes memory_limit(DeviceId device) const { return memory_limit_[device.index()]; }
  /// Returns true if some usable device could not hold all operators.
  bool memory_binds() const { return memory_binds_; }
  /// Returns the time of all operators, each its mean over devices.
  double total_operator_ms() const { return total_operator_ms_; }
  double total_held_bytes() const { return total_held_bytes_; }

 private:
  void gather_usable();
  void gather_speeds();
  void gather_companions();
  void gather_memory();

  CostModel costs_;
  FlatGraph<Link> edges_;
  std::vector<std::uint32_t> rank_;
  std::vector<DeviceId> usable_;
  std::vector<bool> is_usable_;      // by device
  std::vector<double> speed_until_;  // sums over usable_; empty: all are drawn equally often
  std::vector<std::vector<OpId>> labels_;
  std::vector<std::uint32_t> label_of_;  // by operator; labels_.size() where there is none
  std::vector<Bytes> held_bytes_;
  std::vector<Bytes> memory_limit_;  // by device
  bool memory_binds_ = false;
  double total_operator_ms_ = 0;
  double total_held_bytes_ = 0;
  std::vector<double> utilization_;
};

}  // namespace hios::scheduler::best
