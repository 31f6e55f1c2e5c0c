#pragma once

#include <vector>

#include "scheduler/pipeline/bounds/least_costs.h"

namespace hios::scheduler::pipeline {

/// A block of some class that grows by a vertex at a time, none before one that it reads from, and
/// shrinks again, the last that came first; and what it costs at least (LeastCosts). Of its tensors
/// fast memory holds at least, whatever the order, all that it receives, and beside them those that
/// it makes and keeps to the end, or what some operator makes and reads.
class BlockScan {
 public:
  BlockScan(const LeastCosts& costs, std::size_t device_class);

  /// What add() changes beside the members, for take_back().
  struct Sums {
    double work_ms = 0, receive_ms = 0, send_ms = 0, received_bytes = 0;
    double kept_bytes = 0;  ///< own tensors that others read, or nobody
    Bytes parameters = 0, held = 0, largest = 0;
  };

  /// REQUIRES: it is not in the block, nor is any that comes behind it.
  Sums add(Vertex vertex);
  /// REQUIRES: the last that was added, with what add() returned.
  void take_back(Vertex vertex, const Sums& before);

  /// Of this block and of all that hold it; infinite where memory does not.
  double least_ms() const;
  double ms() const;

 private:
  double overflow(double activations) const;
  Bytes largest(Vertex vertex) const;

  const PipelineClass* device_;
  const LeastCosts* costs_;
  std::vector<std::vector<std::size_t>> made_, read_;  // tensors by vertex
  std::vector<Bytes> largest_;                         // own tensor by vertex
  std::vector<double> unread_;                         // own tensors that nobody reads, by vertex
  std::vector<bool> inside_;                           // by vertex
  std::vector<std::uint32_t> outside_;  // by tensor that is made inside: consumers that are not
  std::vector<std::uint32_t> inside_consumers_;  // by tensor that is made elsewhere
  Sums sums_;
};

}  // namespace hios::scheduler::pipeline
