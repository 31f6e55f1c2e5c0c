#pragma once

#include <span>
#include <vector>

#include "scheduler/pipeline/pipeline_problem.h"

namespace hios::scheduler::pipeline {

/// The most bytes of its own tensors that a segment of an order holds at a time, for all segments
/// with one end: peak_bytes() (hios/evaluate/blocks.h) without what is received. An operator more
/// at the front takes time by how long its tensor is held.
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
    bool read;                         // by anybody
    std::vector<std::size_t> readers;  // their places among operators, increasing
  };

  void add_front(std::size_t op);

  std::vector<Operator> ops_;       // of all vertices, in order
  std::vector<std::size_t> first_;  // by place of a vertex: its first operator; one more at the end
  std::size_t end_op_ = 0;          // behind the segment's last operator
  std::size_t begin_ = 0;           // the segment's first vertex
  std::int64_t kept_ = 0;           // of the segment's tensors: those that are held to its end
  // By operator, while it runs: what is held, less all that is kept (each of these is added to all
  // operators behind its own, so that the sum alone changes).
  std::vector<std::int64_t> held_;
  std::vector<std::int64_t> most_behind_;  // by operator: the most of held_ from there to the end
};

}  // namespace hios::scheduler::pipeline
