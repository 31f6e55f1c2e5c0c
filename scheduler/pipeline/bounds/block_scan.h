#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/pipeline/bounds/least_costs.h"

namespace hios::scheduler::pipeline {

/// The least cost (LeastCosts) of a block of some class, to which vertices are added one at a time
/// in a topological order and removed in reverse order. Fast memory holds at least, whatever the
/// order of operators, all received tensors, and the greater of two numbers: the own tensors kept
/// to the end, or the tensors of one operator.
class BlockScan {
 public:
  BlockScan(const LeastCosts& costs, std::size_t device_class);

  /// The state that add() changes besides the members, for remove().
  struct Sums {
    double work_ms = 0, receive_ms = 0, send_ms = 0, received_bytes = 0;
    double kept_bytes = 0;  ///< own tensors with a consumer outside, or with none
    Bytes parameters = 0, held = 0, largest = 0;
  };

  /// Adds a vertex; returns the state before. REQUIRES: neither it nor any later one is in the
  /// block.
  Sums add(Vertex vertex);
  /// Removes a vertex. REQUIRES: it was added last; `before` is what add() returned.
  void remove(Vertex vertex, const Sums& before);

  /// Returns a lower bound of this block and all that contain it; infinite where memory does not
  /// hold it.
  double least_ms() const;
  double ms() const;

 private:
  double overflow(double activations) const;
  Bytes largest(Vertex vertex) const;

  const PipelineClass* device_;
  const LeastCosts* costs_;
  std::vector<std::vector<std::size_t>> produced_, consumed_;  // tensors by vertex
  std::vector<Bytes> largest_;                                 // by vertex: its largest own tensor
  std::vector<double> unread_;                   // by vertex: own tensors without consumers
  std::vector<bool> inside_;                     // by vertex
  std::vector<std::uint32_t> outside_;           // by own tensor: consumers outside
  std::vector<std::uint32_t> inside_consumers_;  // by other tensor: consumers inside
  Sums sums_;
};

}  // namespace hios::scheduler::pipeline
