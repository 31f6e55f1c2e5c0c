#pragma once

#include <span>
#include <vector>

#include "scheduler/pipeline/pipeline_problem.h"

namespace hios::scheduler::pipeline {

/// The most bytes of its own tensors that a segment of an order holds at a time, for all segments
/// with one end: peak_bytes() (hios/evaluate/blocks.h) without what is received. An operator more
/// at the front takes next to constant time, amortised.
class PeakScan {
 public:
  PeakScan(const PipelineProblem& problem, std::span<const Vertex> order);

  /// To the empty segment behind this place.
  void restart(std::size_t end);
  /// One vertex more at the front. REQUIRES: there is one.
  void extend();
  Bytes bytes() const;

 private:
  struct Operator {
    std::int64_t bytes;
    bool read;         // by anybody
    std::size_t last;  // its last consumer's place among operators
  };

  void add_front(std::size_t op);
  std::size_t step_from(std::size_t op);
  void settle(std::size_t op);

  std::vector<Operator> ops_;       // of all vertices, in order
  std::vector<std::size_t> first_;  // by place of a vertex: its first operator; one more at the end
  std::size_t end_op_ = 0;          // behind the segment's last operator
  std::size_t begin_ = 0;           // the segment's first vertex
  std::int64_t kept_ = 0;           // of the segment's tensors: those that are held to its end
  // While an operator runs: what is held, less all that is kept (each of these is added to all
  // operators behind its own, so that the sum alone changes). Here at the segment's first operator,
  // and the most at any.
  std::int64_t front_ = 0, most_ = 0;
  std::vector<std::int64_t> rise_;  // by step: what is held there more than at the step before it
  std::vector<std::size_t> next_;   // by operator: itself where it is a step, else towards the next
};

}  // namespace hios::scheduler::pipeline
