#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/pipeline/pipeline_problem.h"

namespace hios::scheduler::pipeline {

/// The peak of own tensors' bytes in a segment of an order, for all segments with one end:
/// peak_bytes() (hios/evaluate/blocks.h) without received tensors. Adding an operator at the front
/// takes almost constant time, amortised.
class PeakScan {
 public:
  PeakScan(const PipelineProblem& problem, std::span<const Vertex> order);

  /// Begins with the empty segment after this position.
  void restart(std::size_t end);
  /// Adds one vertex at the front. REQUIRES: there is one.
  void extend();
  Bytes bytes() const;

 private:
  struct Operator {
    std::int64_t bytes;
    bool read;         // has a consumer
    std::size_t last;  // position of its last consumer among operators
  };

  void add_front(std::size_t op);
  std::size_t step_from(std::size_t op);
  void settle(std::size_t op);

  std::vector<Operator> ops_;       // operators of all vertices, in order
  std::vector<std::size_t> first_;  // by vertex position: its first operator; plus the end
  std::size_t end_op_ = 0;          // after the segment's last operator
  std::size_t begin_ = 0;           // the segment's first vertex
  std::int64_t kept_ = 0;           // bytes of the segment's tensors held to its end
  // Bytes held while an operator runs, less all kept bytes. (These are added to all later
  // operators, so that only the sum changes.) front_: at the segment's first operator; most_: the
  // maximum.
  std::int64_t front_ = 0, most_ = 0;
  std::vector<std::int64_t> rise_;  // by step: difference to the step before it
  std::vector<std::size_t> next_;   // by operator: itself if a step, else towards the next
};

}  // namespace hios::scheduler::pipeline
